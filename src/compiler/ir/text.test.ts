import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { inferModule } from '../inference/infer-module.ts';
import { verifyModule } from '../verify/verify-module.ts';
import {
  call,
  callFunction,
  constant,
  func,
  ifElse,
  int,
  letIn,
  moduleOf,
  projection,
  scalar,
  tuple,
  variable,
  variableOf,
} from './build.ts';
import type { CallExpr, Expr, Module } from './expr.ts';
import { parseExpr, parseModule } from './text/parse.ts';
import { PRELUDE } from './prelude.ts';
import { printExpr, printModule } from './text/print.ts';
import { randomModule } from '../testing/random-module.ts';
import { equalExprs, equalModules } from './walk/structural-equal.ts';

const x = variable('x', 'float32', ['n', 3]);
const main = (body: Expr): Module => moduleOf({ main: func([x], body) });
const full = (module: Module): string => printModule(module, { data: 'full' });

/** The text of a module, after it was seen to give the module back. */
function roundTrip(module: Module): string {
  const text = full(module);
  const parsed = parseModule(text);
  expect(equalModules(parsed, module), text).toBe(true);
  expect(full(parsed)).toBe(text);
  return text;
}

describe('a printed module is read as the same module', () => {
  test('random modules', () => {
    for (let seed = 0; seed < 200; seed++) {
      roundTrip(randomModule({ random: seededRandom(seed), size: seed % 40 }));
    }
  });

  test('with every variable annotated', () => {
    for (let seed = 0; seed < 40; seed++) {
      roundTrip(randomModule({ random: seededRandom(seed), annotated: true }));
    }
  });

  test('after inference', () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = seededRandom(seed);
      roundTrip(inferModule(randomModule({ random, size: 15, annotated: true })));
    }
  });

  test('a shared tuple is one tuple', () => {
    const pair = tuple([x, scalar(1)]);
    expect(
      roundTrip(main(tuple([pair, pair, projection(tuple([pair, x]), 0)]))),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32]) {
        %0 = (%x, 1f);
        (%0, %0, (%0, %x).0)
      }
      "
    `);
  });

  test('a name is given in the innermost block that holds all uses', () => {
    const log = call('log', [x]);
    const exp = call('exp', [x]);
    const both = call('add', [log, exp]);
    const c = variable('c', 'bool', []);
    const body = ifElse(c, ifElse(c, call('neg', [both]), call('relu', [both])), log);
    expect(roundTrip(moduleOf({ main: func([x, c], body) }))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32], %c: Tensor[(), bool]) {
        %0 = log(%x);
        if (%c) {
          %1 = exp(%x);
          %2 = add(%0, %1);
          if (%c) {
            neg(%2)
          } else {
            relu(%2)
          }
        } else {
          %0
        }
      }
      "
    `);
  });

  test('a let stands where it is, also as an operand', () => {
    const y = variableOf('y');
    const z = variableOf('z');
    const inner = letIn(z, call('exp', [y]), call('add', [z, y]));
    const body = letIn(y, call('log', [x]), call('mul', [inner, inner]));
    expect(roundTrip(main(body))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32]) {
        let %y = log(%x);
        %0 = {
          let %z = exp(%y);
          add(%z, %y)
        };
        mul(%0, %0)
      }
      "
    `);
  });

  test('functions as results, operands and callees', () => {
    const p = variableOf('p');
    const q = variableOf('q');
    const adder = func([p], func([q], call('add', [p, q])));
    expect(roundTrip(main(callFunction(callFunction(adder, [x]), [x])))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32]) {
        %0 = fn (%p) {
          fn (%q) {
            add(%p, %q)
          }
        };
        %1 = %0(%x);
        %1(%x)
      }
      "
    `);
  });

  test('attributes of every kind', () => {
    const odd = call('pad', [x], {
      pads: [0, -0, 1.5, NaN],
      mode: 'a "quoted"\nname',
      keep: false,
      value: -Infinity,
      names: ['p', 'q'],
      shape: ['n', { op: 'max', left: { op: 'floordiv', left: 'n', right: 2 }, right: -1 }, 'inf'],
      none: [],
    });
    expect(roundTrip(main(odd))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32]) {
        pad(%x, pads=[0, -0, 1.5, nan], mode="""a "quoted"
      name""", keep=false, value=-inf, names=["p", "q"], shape=[n, max((n // 2), -1), "inf"], none=[])
      }
      "
    `);
  });

  test('calls on a device', () => {
    const body: CallExpr = { ...call('relu', [x]), onDevice: 'host' };
    expect(
      roundTrip(main({ ...call('pad', [body], { pads: [1] }), onDevice: 'session' })),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32]) {
        %0 = relu(%x, on_device="host");
        pad(%0, pads=[1], on_device="session")
      }
      "
    `);
  });

  test('kernels are functions that call them, with their text as it stands', () => {
    const text = `kernel @twice(%x: Tensor[(n, m), float32]) -> Tensor[(n, m), float32] {
      wgsl = """
fn main() { "quoted" }
""", grid = [n // 4, m, 1], workgroup = [4, 1, 1], host = @host
    }
    def @host(%x: Tensor[(a, b), float32]) -> Tensor[(a, b), float32] { add(%x, %x) }`;
    expect(roundTrip(parseModule(text))).toMatchInlineSnapshot(`
      "def @twice(%x: Tensor[(n, m), float32]) -> Tensor[(n, m), float32] {
        %0 = @host(%x);
        wgsl_kernel(%x, %0, params=["n", "m"], sizes=["n", "m"], grid=[(n // 4), m, 1], workgroup=[4, 1, 1], name="twice", code="""
      fn main() { "quoted" }
      """, shape=["n", "m"], dtype="float32", alternative=true)
      }

      def @host(%x: Tensor[(a, b), float32]) -> Tensor[(a, b), float32] {
        add(%x, %x)
      }
      "
    `);
  });

  test('attributes of functions', () => {
    const attributes = {
      primitive: 'my "kernel"',
      device: 'host',
      resultNames: ['y', 'a b'],
      bounds: { n: [1, 8], 'batch size': [0, 0] },
      inPlace: 0,
      captured: 1,
    } as const;
    expect(roundTrip(moduleOf({ main: func([x], x, attributes) }))).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 3), float32], primitive="my \\"kernel\\"", device="host", in_place=0, results=["y","a b"], bounds={n: (1, 8), "batch size": (0, 0)}, captured=1) {
        %x
      }
      "
    `);
  });

  test('names and symbols that are no identifiers', () => {
    const odd = variable('a b', 'float32', ['batch size', 'data.0', '?', 'mod']);
    const zero = variable('0', 'float32', []);
    const dotted = variable('x.0', 'float32', []);
    const text = roundTrip(
      moduleOf({
        'main function': func([odd, zero, dotted], call('add', [call('neg', [zero]), odd])),
      }),
    );
    expect(text).toMatchInlineSnapshot(`
      "def @"main function"(%"a b": Tensor[("batch size", data.0, ?, mod), float32], %"0": Tensor[(), float32], %"x.0": Tensor[(), float32]) {
        %1 = neg(%"0");
        add(%1, %"a b")
      }
      "
    `);
  });
});

describe('constants', () => {
  const bits = (words: readonly number[], shape: readonly number[]): Expr =>
    constant(new HostTensor('float32', shape, new Float32Array(new Uint32Array(words).buffer)));

  test.each<readonly [string, Expr]>([
    ['0.1f', scalar(0.1)],
    ['-0f', scalar(-0)],
    ['nanf', scalar(NaN)],
    ['-inff64', scalar(-Infinity, 'float64')],
    ['1.5f16', constant(new HostTensor('float16', [], new Uint16Array([0x3e00])))],
    ['-7', scalar(-7, 'int32')],
    ['true', scalar(1, 'bool')],
    ['[-9223372036854775808i64]', constant(HostTensor.from('int64', [1], [-(2n ** 63n)]))],
    ['#-9007199254740991', int(Number.MIN_SAFE_INTEGER)],
  ])('%s', (text, expr) => {
    expect(printExpr(expr)).toBe(`${text}\n`);
    expect(equalExprs(parseExpr(text), expr)).toBe(true);
  });

  test.each<readonly [string, Expr]>([
    ['a NaN with a payload', bits([0x7fc0_0001, 0xffc0_0000], [2])],
    ['a tensor without elements', bits([], [0, 4])],
    ['rank 2', bits([0x3f80_0000, 0x8000_0000], [1, 2])],
    ['a splat', constant(HostTensor.splat('float64', [1000, 1000, 1000], 0.1))],
    [
      'a splat of a NaN with a payload',
      constant(new HostTensor('float16', [100], new Uint16Array([0x7e01]), true)),
    ],
    ['a bool that is neither 0 nor 1', constant(new HostTensor('bool', [], new Uint8Array([2])))],
    [
      'more than a line of base64',
      constant(
        HostTensor.from(
          'int32',
          [100],
          Array.from({ length: 100 }, (_, i) => i),
        ),
      ),
    ],
  ])('%s stands in the metadata section', (_, expr) => {
    expect(roundTrip(main(tuple([x, expr, expr])))).toContain('(%x, meta[0], meta[0])');
  });

  test('an entry of the metadata section, with and without data', () => {
    const module = moduleOf(
      { main: func([], bits([1, 2], [2, 1])) },
      { producer: 'me', 'a b': '"' },
    );
    expect(full(module)).toMatchInlineSnapshot(`
      "def @main() {
        meta[0]
      }

      meta[0]: Tensor[(2, 1), float32] = base64
        "AQAAAAIAAAA="

      metadata {
        producer = "me",
        "a b" = "\\"",
      }
      "
    `);
    expect(printModule(module)).toMatchInlineSnapshot(`
      "def @main() {
        meta[0]
      }

      meta[0]: Tensor[(2, 1), float32]
      "
    `);
  });

  test('lists may be nested', () => {
    const nested = parseExpr('[[1f, 2f], [3f, 4f], [5f, 6f],]');
    expect(
      equalExprs(nested, constant(HostTensor.from('float32', [3, 2], [1, 2, 3, 4, 5, 6]))),
    ).toBe(true);
  });
});

describe('the language', () => {
  const reprint = (text: string): string => {
    const printed = printModule(parseModule(text));
    expect(printModule(parseModule(printed))).toBe(printed);
    return printed;
  };

  test('everything once', () => {
    const text = `
      // A comment; /* one within */
      type Shape { Circle(Tensor[(), float32]), Square(Tensor[(), float32]), Empty }
      type Box[A] { Box(A, fn (A) -> (A,)), Both(List[A], Box[A]) }

      def @area(%shape: Shape) -> Tensor[(), float32] {
        match (%shape) {
          Circle(%r) => mul(mul(%r, %r), 3.14f),
          Square(%a) => { let %b = mul(%a, %a); %b },
          Empty => 0f,
        }
      }
      def @poly<A, B>(%f: fn<C> (C, A) -> B, %a: A, %n: int, %s: shape) -> (B, A) {
        let %g: fn<C> (C, A) -> B = %f;
        %unit = (); // a name for a node
        match? ((%g(%unit, %a), (%a))) { (%p, _) => (%p, %a), %q: (B, A) => %q }
      }
      def @dims(%x: Tensor[(n + 1 * 2 // 3 % m, (n - m) * 2, max(n, min(m, 2)), ?), int8], results=["y"]) {
        if (int_lt(dim(%x, axis=0), #2)) { %x } else if (#0) { %x } else { relu({ relu(%x) }) }
      }
      def @data(%x: Box[int]) { (fn<A>(%y: A) -> A { %y })<int>(#3) }
    `;
    expect(reprint(text)).toMatchInlineSnapshot(`
      "type Shape { Circle(Tensor[(), float32]), Square(Tensor[(), float32]), Empty }

      type Box[A] { Box(A, fn (A) -> (A,)), Both(List[A], Box[A]) }

      type List[A] { Cons(A, List[A]), Nil }

      def @area(%shape: Shape) -> Tensor[(), float32] {
        match (%shape) {
          Circle(%r) => {
            %0 = mul(%r, %r);
            mul(%0, 3.14f)
          },
          Square(%a) => {
            let %b = mul(%a, %a);
            %b
          },
          Empty => 0f,
        }
      }

      def @poly<A, B>(%f: fn<C> (C, A) -> B, %a: A, %n: int, %s: shape) -> (B, A) {
        let %g: fn<C> (C, A) -> B = %f;
        %0 = %g((), %a);
        match? ((%0, %a)) {
          (%p, _) => (%p, %a),
          %q: (B, A) => %q,
        }
      }

      def @dims(%x: Tensor[((n + (((1 * 2) // 3) % m)), ((n - m) * 2), max(n, min(m, 2)), ?), int8], results=["y"]) {
        %0 = dim(%x, axis=0);
        %1 = int_lt(%0, #2);
        if (%1) {
          %x
        } else if (#0) {
          %x
        } else {
          %2 = relu(%x);
          relu(%2)
        }
      }

      def @data(%x: Box[int]) {
        %0 = fn<A>(%y: A) -> A {
          %y
        };
        %0<int>(#3)
      }
      "
    `);
  });

  test('what is used of the prelude becomes part of the module', () => {
    const { functions, types } = parseModule('def @main(%l: List[int]) { @append(%l, Nil) }');
    expect([...functions.keys(), ...types.keys()]).toEqual([
      'main',
      'reverse',
      'reverse_onto',
      'append',
      'List',
    ]);
  });

  test('the prelude is complete in itself', () => {
    expect(reprint(PRELUDE)).toContain('def @tree_map<A, B>');
    const prelude = parseModule(PRELUDE, { prelude: false });
    verifyModule(prelude);
    const { functions } = prelude;
    expect([...functions.keys()]).toEqual([
      'map',
      'map_onto',
      'foldl',
      'foldr',
      'fold_reversed',
      'reverse',
      'reverse_onto',
      'append',
      'length',
      'length_plus',
      'nth',
      'zip',
      'zip_onto',
      'tree_map',
    ]);
  });

  test('a span tells the place', () => {
    const module = parseModule('def @main(%x: int) {\n  relu(%x)\n}', { file: 'a.ir' });
    expect(module.functions.get('main')?.body).toMatchObject({
      span: { source: 'a.ir', line: 2, column: 3 },
    });
  });

  test('a statement with free variables', () => {
    const text = printExpr(call('add', [call('neg', [x]), x]));
    expect(text).toBe('%0 = neg(%x);\nadd(%0, %x)\n');
    const scope = new Map([['x', x]]);
    expect(equalExprs(parseExpr(text, { scope }), call('add', [call('neg', [x]), x]))).toBe(true);
  });
});

describe('ten thousand', () => {
  const COUNT = 10_000;
  const chain = (step: (expr: Expr, i: number) => Expr, from: Expr = x): Expr => {
    let expr = from;
    for (let i = 0; i < COUNT; i++) expr = step(expr, i);
    return expr;
  };
  const one = scalar(1, 'bool');

  test.each<readonly [string, string, string]>([
    ['parentheses', '('.repeat(COUNT), ')'.repeat(COUNT)],
    ['blocks', '{'.repeat(COUNT), '}'.repeat(COUNT)],
    ['calls', 'relu('.repeat(COUNT), ')'.repeat(COUNT)],
    ['tuples', '('.repeat(COUNT), ',)'.repeat(COUNT)],
    ['functions', 'fn () {'.repeat(COUNT), '}'.repeat(COUNT)],
    ['ifs', 'if (%c) {'.repeat(COUNT), '} else { %c }'.repeat(COUNT)],
    ['else ifs', 'if (%c) { %c } else {'.repeat(COUNT), '}'.repeat(COUNT)],
    ['matches', 'match (%c) { _ => '.repeat(COUNT), ' }'.repeat(COUNT)],
    ['values of lets', 'let %y = { '.repeat(COUNT), ' }; %y'.repeat(COUNT)],
    ['operands that are lets', 'relu({ let %y = %c; '.repeat(COUNT), ' })'.repeat(COUNT)],
    ['types', `let %y: ${'('.repeat(COUNT)}int${')'.repeat(COUNT)} = `, '; %y'],
    ['dimensions', `let %y: Tensor[(${'('.repeat(COUNT)}n${')'.repeat(COUNT)},), bool] = `, '; %y'],
  ])('nested %s', (_, open, close) => {
    const module = parseModule(`def @main(%c: Tensor[(), bool]) { ${open}%c${close} }`);
    expect(equalModules(parseModule(full(module)), module)).toBe(true);
  });

  test('nested patterns', () => {
    const pattern = `${'Cons(_, '.repeat(COUNT)}%c${')'.repeat(COUNT)}`;
    const text = `def @main(%l: List[int]) { match? (%l) { ${pattern} => %c } }`;
    const clauses = parseModule(text).functions.get('main')?.body;
    expect(clauses).toMatchObject({ kind: 'match', clauses: [{ body: { name: 'c' } }] });
  });

  test('errors in that depth', () => {
    const text = `def @main() {\n  ${'('.repeat(COUNT)}?${')'.repeat(COUNT)}\n}`;
    expect(() => parseModule(text)).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:2:10003: got "?", expected an expression.
      2 | …((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((?)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))…
        |                                                              ^]
    `);
  });

  test.each<readonly [string, () => Expr]>([
    ['shared operands', () => chain((expr) => call('add', [expr, expr]))],
    ['lets', () => chain((expr) => letIn(variableOf('y'), x, expr))],
    ['values of lets', () => chain((expr) => letIn(variableOf('y'), expr, x))],
    ['branches that share', () => chain((expr) => ifElse(one, expr, call('add', [expr, x])))],
    ['projections', () => chain((expr) => projection(tuple([expr, x]), 0))],
    ['functions of one name', () => chain((expr) => func([variableOf('y')], expr))],
  ])('%s', (_, make) => {
    roundTrip(main(make()));
  });
});
