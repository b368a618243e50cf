import { expect, test } from 'vitest';
import { ParseError } from '../core/errors.ts';
import { compile } from './compile.ts';
import { call, func, int, moduleOf, variable } from './ir/build.ts';
import { parseModule } from './ir/text/parse.ts';

/** The first line of what a program is refused with. */
function messageOf(text: string): string {
  try {
    compile(parseModule(text, { file: 'a.ir' }), { texts: new Map([['a.ir', text]]) });
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
  }
}

test.each([
  [
    'def @main(%x: int) {\n  %f = fn (%y) { %y(%y) };\n  %f(%x)\n}',
    'a.ir:2:18: got _ where fn (_) -> _ is wanted, a type that would contain itself, expected a finite type. Annotate the parameters, or put the function into a data type.',
  ],
  [
    'def @main(%x: Tensor[(n,), float32]) {\n  full(shape=[n // 0], value=1)\n}',
    'a.ir:2:20: got a division by 0, expected a divisor other than 0.',
  ],
  [
    'def @main(%x: Tensor[(mod(n, 0),), float32]) { %x }',
    'a.ir:1:30: got a division by 0, expected a divisor other than 0.',
  ],
  [
    'def @id<A>(%x: A) -> A { %x }\ndef @main(%x: int) {\n  @id<int, int>(%x)\n}',
    'a.ir:3:3: got 2 type arguments, expected 1.',
  ],
  [
    'type E { Num(int, List[Tensor[(m,), float32]]) }\ndef @main(%x: int) { %x }',
    'a.ir:1:19: got the dimension m in a field, expected a number or ?. Data do not name sizes: a let or a function that takes the field does.',
  ],
  [
    `def @main() {\n  ${'['.repeat(10_000)}1${']'.repeat(10_000)}\n}`,
    'a.ir:2:35: got a list in 32 others, expected a tensor of at most rank 32.',
  ],
  [
    'def @main(%x: Tensor[(2,), float32], %k: int) {\n  add(%x, %k)\n}',
    'a.ir:2:3, input 1: got int, expected a tensor. tensor_of(…, dtype="…") makes one of numbers of the host.',
  ],
  [
    'def @main(%x: Tensor[(?,), float32]) {\n  full(shape=[?], value=0)\n}',
    'a.ir:2:3, attribute shape: got the dimension ?, expected a number or a symbol. A let gives one: let %y: Tensor[(k,), float32] = …;',
  ],
  [
    'def @f(%l: List[Tensor[(n,), float32]]) -> int { #1 }\ndef @main(%l: List[Tensor[(?,), float32]]) {\n  @f(%l)\n}',
    'a.ir:3:3, argument l: got List[Tensor[(?,), float32]], expected List[Tensor[(?,), float32]] of elements of one size, or ? in place of its name.',
  ],
  [
    'private def @main(%x: int) { %x }',
    'a.ir:1:13: got only private functions, expected one that sessions may call, such as @main.',
  ],
  [
    'def @main(%x: Tensor[(n,), float32], bounds={m: (1, 4)}) { %x }',
    'a.ir:1:5, bounds: got the symbol m, expected one that is a dimension of a parameter that is a tensor.',
  ],
  [
    'def @main(%x: int, results=["a", "b"]) { %x }',
    'a.ir:1:5, results: got 2 names, expected one, of the result.',
  ],
  [
    'def @main(%x: int, results=["a", "b", "c"]) { (%x, %x) }',
    'a.ir:1:5, results: got 3 names, expected 2, one for each field of the tuple.',
  ],
  [
    'def @main(%x: int) {\n  let %f = fn (%y: Tensor[(-1,), float32]) { %y };\n  %x\n}',
    'a.ir:2:12, parameter y: got Tensor[(-1,), float32], expected sizes from 0 up.',
  ],
])('%#', (text, message) => {
  expect(messageOf(text)).toBe(message);
});

test('a definition that cannot be read is reported, and not those who call it', () => {
  const text =
    'kernel @k(%a: Tensor[(2,), float32]) -> int { wgsl = "" }\ndef @main(%x: Tensor[(2,), float32]) { @k(%x) }';
  const errors = (): unknown => {
    try {
      return parseModule(text);
    } catch (error) {
      return error instanceof ParseError ? error.details.lines : error;
    }
  };
  expect(errors()).toEqual([1]);
});

test('a division by 0 of the builder names its place', () => {
  const x = variable('x', 'float32', ['n']);
  const shape = [{ op: 'floordiv', left: 'n', right: 0 } as const];
  const node = call('full', [], { shape, value: 1, dtype: 'float32' }, { source: 'my node' });
  expect(() => compile(moduleOf({ main: func([x], node) }))).toThrow(
    'node "my node", attribute shape: got a dimension that divides by 0, expected a divisor other than 0.',
  );
});

test('so does a size in a data type of the builder', () => {
  const field = { kind: 'tensor', dtype: 'float32', shape: ['m'] } as const;
  const type = { name: 'E', params: [], constructors: [{ name: 'Num', fields: [field] }] };
  expect(() => compile(moduleOf({ main: func([], int(1)) }, {}, [type]))).toThrow(
    'type E, constructor Num: got the dimension m, expected a symbol',
  );
});

test('fatal is stop, which gives () without a type', () => {
  expect(messageOf('def @main() { fatal(message="no") }')).toBe('accepted');
  expect(messageOf('def @main() -> int { fatal<int>(message="no") }')).toBe('accepted');
});
