import { describe, expect, test } from 'vitest';
import { ParseError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { parseExpr, parseModule } from './text/parse.ts';
import { printModule } from './text/print.ts';
import { randomModule } from '../testing/random-module.ts';

/** The message for a text, without the empty lines of the template. */
function messageOf(text: string): string {
  try {
    parseModule(text.replace(/^\n/, ''), { file: 'f.ir' });
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
  return 'no error';
}

const inMain = (body: string): string => messageOf(`def @main(%x: int) {\n  ${body}\n}`);

describe('all errors of a file come together', () => {
  test('each at its place', () => {
    const text = `
type List2[A] { Cons2(A, Lst[A]), nil }
def @main(%x: Tensor[(n, 3), float32], %x: int) {
  %1 = relu(%x;
  %2 = frobnicate(%1, %3);
  let %y: Tensor[(n 3), float32] = %2
  let %z = Cns(%y, Nil);
  add(%1, %2, axis=[1, "a"], axis=2)
}
def @main() { @missing(#1.5) }
def broken() { }
type Opt[A] { Some(A) }
def @last(%o: Opt) { match (%o) { Some(%v) -> %v } }
`;
    expect(messageOf(text)).toMatchInlineSnapshot(`
      "f.ir:1:26: got "Lst", expected a type that is defined. Did you mean List?
      1 | type List2[A] { Cons2(A, Lst[A]), nil }
        |                          ^

      f.ir:1:35: got "nil", expected a constructor, whose name begins with a capital.
      1 | type List2[A] { Cons2(A, Lst[A]), nil }
        |                                   ^

      f.ir:2:40: got a second "%x", expected each name once in a scope.
      2 | def @main(%x: Tensor[(n, 3), float32], %x: int) {
        |                                        ^

      f.ir:3:15: got ";", expected "," or ")".
      3 |   %1 = relu(%x;
        |               ^

      f.ir:4:8: got "frobnicate", expected an operator.
      4 |   %2 = frobnicate(%1, %3);
        |        ^

      f.ir:4:23: got "%3", expected a variable that is in scope.
      4 |   %2 = frobnicate(%1, %3);
        |                       ^

      f.ir:5:21: got "3", expected "," or ")".
      5 |   let %y: Tensor[(n 3), float32] = %2
        |                     ^

      f.ir:7:30: got a second axis, expected each attribute once.
      7 |   add(%1, %2, axis=[1, "a"], axis=2)
        |                              ^

      f.ir:9:5: got a second definition of "@main", expected each name once.
      9 | def @main() { @missing(#1.5) }
        |     ^

      f.ir:9:15: got "@missing", expected a global function that is defined.
      9 | def @main() { @missing(#1.5) }
        |               ^

      f.ir:10:5: got "broken", expected the name of a function such as @main.
      10 | def broken() { }
         |     ^

      f.ir:12:15: got Opt with 0 type arguments, expected Opt[A].
      12 | def @last(%o: Opt) { match (%o) { Some(%v) -> %v } }
         |               ^

      f.ir:12:44: got "->", expected "=>".
      12 | def @last(%o: Opt) { match (%o) { Some(%v) -> %v } }
         |                                            ^"
    `);
  });

  test('a tensor of unknown rank', () => {
    expect(messageOf('def @main(%x: Tensor[?, float32]) { %x }')).toContain(
      'expected dimensions in parentheses. A type says the rank, such as (?, ?). A function for tensors of any rank is polymorphic: fn<A>.',
    );
  });

  test('up to a limit', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `  %${i} = nothing${i}(%x);`).join('\n');
    const message = messageOf(`def @main(%x: int) {\n${lines}\n  %x\n}`);
    expect(message.match(/got "nothing/g)).toHaveLength(20);
    expect(message).toMatch(/\n\nThese are the first 20 errors; there may be more\.$/);
  });

  test('with their places as data', () => {
    let details: unknown;
    try {
      parseModule('def @f() { %x }\ndef @g() {\n %y }');
    } catch (error) {
      details = error instanceof ParseError ? error.details : error;
    }
    expect(details).toEqual({ file: 'ir', line: 1, column: 12, lines: [1, 3], columns: [12, 2] });
  });
});

describe('one error is reported once', () => {
  test.each([
    ['a statement that is broken', '%1 = add(%x, ]); %2 = relu(%1); relu(%2)'],
    ['a name that is used again', '%1 = relu(%y); add(%y, %1)'],
    ['statements that are skipped', 'let %a = (1f 2f; %b = %a; add(%a, %b)'],
    ['a block in a block', '%1 = if (%x) { relu(} else { %x }; %1'],
  ])('%s', (_, body) => {
    expect(inMain(body).match(/got/g)).toHaveLength(1);
  });

  test('a semicolon that is missing at the end of a line', () => {
    expect(inMain('%1 = relu(%x)\n  %2 = relu(%1)\n  relu(%2)')).toMatchInlineSnapshot(`
      "f.ir:3:3: got "%2", expected ";".
      3 |   %2 = relu(%1)
        |   ^

      f.ir:4:3: got "relu", expected ";".
      4 |   relu(%2)
        |   ^"
    `);
  });

  test('a brace that is missing at the end of a function', () => {
    expect(messageOf('def @f(%x: int) { %x\ndef @g(%x: int) { %x }')).toMatchInlineSnapshot(`
      "f.ir:2:1: got "def", expected "}".
      2 | def @g(%x: int) { %x }
        | ^"
    `);
  });
});

describe('what is not defined, or twice', () => {
  test.each([
    ['a variable', 'relu(%y)'],
    ['a variable of another block', '%1 = if (%x) { %2 = relu(%x); %2 } else { %x }; %2'],
    ['a variable before its statement', '%1 = relu(%2); %2 = relu(%x); %1'],
    ['an operator', 'rellu(%x)'],
    ['a global', '@mian(%x)'],
    ['a constructor', 'match (%x) { Conss(_, _) => %x, _ => %x }'],
    ['a tensor of the metadata section', 'meta[0]'],
    ['a name twice in a block', 'let %y = %x; let %y = %x; %y'],
    ['a name twice in a pattern', 'match? (%x) { (%a, %a) => %a }'],
    ['an attribute twice', 'softmax(%x, axis=0, axis=1)'],
    ['an attribute of a function', '@main(%x, axis=0)'],
    ['a type parameter twice', '(fn<A, A>(%y: A) { %y })(%x)'],
    ['a type', '(fn (%y: Lisst[int]) { %y })(%x)'],
    ['the arguments of a type', '(fn (%y: List) { %y })(%x)'],
  ])('%s', (_, body) => {
    expect(inMain(body)).toMatchSnapshot();
  });

  test('an inner name hides an outer one', () => {
    expect(inMain('let %x = relu(%x); (fn (%x) { %x })(%x)')).toBe('no error');
  });

  test.each([
    ['functions', 'def @f() { () }\ndef @f() { () }'],
    ['types', 'type A { B }\ntype A { C }'],
    ['constructors', 'type A { B }\ntype C { B }'],
    ['constants', 'meta[0]: Tensor[(), bool] = true\nmeta[0]: Tensor[(), bool] = true'],
    ['facts', 'metadata { a = "1", a = "2" }'],
    ['a type that the prelude needs', 'type List[A] { End }\ndef @main(%x: int) { @map(%x, %x) }'],
    ['a constructor of the prelude', 'type A { Nil }\ndef @main(%x: List[int]) { %x }'],
  ])('%s', (_, text) => {
    expect(messageOf(text)).toMatchSnapshot();
  });
});

describe('syntax', () => {
  test.each([
    ['nothing where an expression stands', '%1 = ; %x'],
    ['a keyword', 'add(%x, let)'],
    ['a block without a result', '%1 = relu(%x);'],
    ['two results', '%x %x'],
    ['a comma that is missing', 'add(%x %x)'],
    ['an if without else', 'if (%x) { %x }'],
    ['a clause without an arrow', 'match (%x) { _ %x }'],
    ['a pattern', 'match (%x) { cons => %x }'],
    ['a parameter without a sign', '(fn (x) { %x })(%x)'],
    ['a mark that functions do not have', '(fn (kernel="x") { %x })(%x)'],
    ['bounds the wrong way round', '(fn (%y: int, bounds={n: (2, 1)}) { %y })(%x)'],
    ['bounds that are no sizes', '(fn (%y: int, bounds={n: (-2, 1)}) { %y })(%x)'],
    ['a suffix', 'add(1q, 2f)'],
    ['a fraction without a suffix', '1.5'],
    ['an element beyond its dtype', '[1u8, 256u8]'],
    ['a negative unsigned number', '-1u'],
    ['elements of two dtypes', '[1f, 1]'],
    ['lists of two lengths', '[[1, 2], [3]]'],
    ['lists of two depths', '[[1], 2]'],
    ['lists that are too deep', '[1, [2]]'],
    ['an empty list', '[]'],
    ['an int beyond 2^53', '#9007199254740993'],
    ['a remainder without a space', '(fn (%y: Tensor[(n %2), bool]) { %y })(%x)'],
    ['a comment among dimensions', '(fn (%y: Tensor[(n, // rows\n 2), bool]) { %y })(%x)'],
    ['a dtype', '(fn (%y: Tensor[(n,), float33]) { %y })(%x)'],
    ['a number without its end', 'softmax(%x, axis=1f)'],
    ['a character', 'add(%x, $)'],
    ['a string without an end', 'cast(%x, to="int32)'],
    ['a comment without an end', '%x } /* never'],
    ['a string between triple quotes without an end', 'pad(%x, mode="""a\nb'],
    ['text between definitions', '%x } relu'],
  ])('%s', (_, body) => {
    expect(inMain(body)).toMatchSnapshot();
  });

  test.each([
    ['text before definitions', 'relu\ndef @main() { () }'],
    ['a function without a name', 'def main() { () }'],
    ['a constructor in small letters', 'type A { b }'],
    ['the type of a constant', 'meta[0]: int = 1'],
    ['a constant of a symbolic shape', 'meta[0]: Tensor[(n,), bool] = true'],
    ['a constant without data', 'def @main() { meta[0] }\nmeta[0]: Tensor[(9,), int8]'],
    ['too few data', 'meta[0]: Tensor[(9,), int8] = base64 "AAAA"'],
    ['what is not base64', 'meta[0]: Tensor[(3,), int8] = base64 "A?AA"'],
    ['a splat of another dtype', 'meta[0]: Tensor[(3,), int8] = 1f'],
  ])('%s', (_, text) => {
    expect(messageOf(text)).toMatchSnapshot();
  });

  test('a caret stands under a tab and in a long line', () => {
    expect(inMain('\t\trelu(%x, %y)')).toContain('\n2 |   \t\trelu(%x, %y)\n  |   \t\t         ^');
    const long = `${'relu('.repeat(100)}%y${')'.repeat(100)}`;
    expect(inMain(long)).toMatchInlineSnapshot(`
      "f.ir:2:503: got "%y", expected a variable that is in scope.
      2 | …relu(relu(relu(relu(relu(relu(relu(relu(relu(relu(relu(relu(%y))))))))))))))))))))))))))))))))))))))))))))))))))))))))))…
        |                                                              ^"
    `);
  });

  test('a single expression', () => {
    expect(() => parseExpr('add(1f, %y) )')).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:1:9: got "%y", expected a variable that is in scope.
      1 | add(1f, %y) )
        |         ^

      ir:1:13: got ")", expected the end of the block after its result.
      1 | add(1f, %y) )
        |             ^]
    `);
  });
});

/** The text with pieces of it taken out, doubled or moved. */
function damage(text: string, random: () => number): string {
  const pieces = text.split(/(?<=[\s(),;:=<>{}[\]"])/);
  const at = (): number => Math.floor(random() * pieces.length);
  for (let count = 1 + Math.floor(random() * 4); count > 0; count--) {
    const removed = pieces.splice(at(), Math.floor(random() * 3));
    if (random() < 0.6) pieces.splice(at(), 0, ...removed, pieces[at()] ?? '');
  }
  return pieces.join('');
}

test('a damaged text is read, or gives a ParseError with places', () => {
  let errors = 0;
  for (let seed = 0; seed < 600; seed++) {
    const random = seededRandom(seed);
    const text = damage(printModule(randomModule({ random, size: 15 }), { data: 'full' }), random);
    try {
      parseModule(text);
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      errors++;
      expect(error.message).toMatch(/^ir:\d+:\d+: got /);
    }
  }
  expect(errors).toBeGreaterThan(300);
});

describe('kernels', () => {
  const head = 'kernel @k(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32]';
  test.each([
    ['without a text', `${head} { grid=[1, 1, 1], workgroup=[1, 1, 1] }`],
    ['with an unknown part', `${head} { wgsl="", blocks=[1] }`],
    ['with a part twice', `${head} { wgsl="", wgsl="" }`],
    ['of no tensor', 'kernel @k(%x: int) -> int { wgsl="" }'],
    ['with a host that is none', `${head} { wgsl="", host=@other }`],
    ['that have no type', 'kernel @k(%x: int) { wgsl="" }'],
  ])('%s', (_, text) => {
    expect(() => parseModule(text, { file: 'f.ir' })).toThrowErrorMatchingSnapshot();
  });
});
