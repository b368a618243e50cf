import { describe, expect, it } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { compile } from '../../compile.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import { printModule } from '../../ir/text/print.ts';
import { loadProgram } from '../../testing/load-program.ts';
import { textAfter } from '../../testing/text-after.ts';

type Argument = number | readonly number[] | readonly (readonly number[])[] | { int: number };

/** A float64 tensor, or an int. */
function valueOf(arg: Argument): HostTensor | number {
  if (typeof arg === 'number') return HostTensor.from('float64', [], [arg]);
  if (!Array.isArray(arg)) return 'int' in arg ? arg.int : 0;
  const rows: readonly unknown[] = arg;
  const [first] = rows;
  if (!Array.isArray(first)) return HostTensor.from('float64', [rows.length], rows.map(Number));
  return HostTensor.from('float64', [rows.length, first.length], rows.flat().map(Number));
}

/** All numbers of a result, in order, tags of tuples left out. */
function numbersOf(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return Array.isArray(value) ? value.flatMap(numbersOf) : [];
}

/** Runs `@main`, which gives `(value, gradients)`, and compares with central differences of `@f`. */
async function requireGradient(text: string, args: readonly Argument[]): Promise<void> {
  const { run } = await loadProgram(text);
  const values = args.map(valueOf);
  const result = await run('main', ...values);
  const [, value, gradients] = result as [number, unknown, unknown[]];
  const at = async (inputs: readonly (HostTensor | number)[]): Promise<number> =>
    Number(numbersOf(await run('f', ...inputs))[0]);
  expect(value).toBeCloseTo(await at(values), 10);
  for (const [i, tensor] of values.entries()) {
    if (!(tensor instanceof HostTensor)) continue;
    const expected: number[] = [];
    for (const [j, element] of [...tensor.data].entries()) {
      const moved = (step: number): HostTensor => {
        const data = Float64Array.from(tensor.data, Number);
        data[j] = Number(element) + step;
        return new HostTensor('float64', tensor.shape, data);
      };
      const [above, below] = [
        await at(values.with(i, moved(1e-5))),
        await at(values.with(i, moved(-1e-5))),
      ];
      expected.push((above - below) / 2e-5);
    }
    const got = numbersOf(gradients[i + 1]);
    expect(got.length).toBe(expected.length);
    for (const [j, number] of got.entries()) {
      const size = Math.max(1, Math.abs(number));
      expect(number / size).toBeCloseTo((expected[j] ?? 0) / size, 6);
    }
  }
}

const PROGRAMS: readonly (readonly [string, string, readonly Argument[]])[] = [
  [
    'a layer with broadcasting, sizes being symbols',
    `def @f(%w: Tensor[(2, 3), float64], %b: Tensor[(3,), float64], %x: Tensor[(n, 2), float64]) {
      %y = tanh(add(matmul(%x, %w), %b));
      reduce_mean(mul(%y, %y))
    }
    def @main(%w: Tensor[(2, 3), float64], %b: Tensor[(3,), float64], %x: Tensor[(n, 2), float64]) {
      gradient(@f)(%w, %b, %x)
    }`,
    [
      [
        [0.1, 0.2, 0.3],
        [-0.4, 0.5, -0.6],
      ],
      [0.1, 0, -0.2],
      [
        [1, 2],
        [-1, 0.5],
      ],
    ],
  ],
  [
    'a range, whose size is known when the program runs',
    `def @f(%a: Tensor[(), float64], %b: Tensor[(), float64], %d: Tensor[(), float64]) {
      let %x = range(%a, %b, %d);
      reduce_sum(mul(sin(%x), %x))
    }
    def @main(%a: Tensor[(), float64], %b: Tensor[(), float64], %d: Tensor[(), float64]) {
      gradient(@f)(%a, %b, %d)
    }`,
    [0.3, 2.6, 0.4],
  ],
  [
    'lets, tuples and projections',
    `def @f(%x: Tensor[(n,), float64]) {
      let %pair = (exp(%x), (sin(%x), %x));
      let %inner = %pair.1;
      reduce_sum(mul(%pair.0, mul(%inner.0, %inner.1)))
    }
    def @main(%x: Tensor[(n,), float64]) { gradient(@f)(%x) }`,
    [[0.3, -0.7]],
  ],
  [
    'a branch, which reads what is computed before it',
    `def @f(%x: Tensor[(n,), float64], %c: int) {
      let %s = exp(%x);
      let %y = if (%c) { let %t = mul(%s, %x); mul(%t, %t) } else { add(%s, 1f64) };
      reduce_sum(mul(%y, %x))
    }
    def @main(%x: Tensor[(n,), float64], %c: int) { gradient(@f)(%x, %c) }`,
    [[0.3, -0.7], { int: 1 }],
  ],
  [
    'recursion whose depth is an argument',
    `def @f(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
      if (int_lt(%n, #1)) { 1f64 } else { mul(sin(%x), @f(%x, int_sub(%n, #1))) }
    }
    def @main(%x: Tensor[(), float64], %n: int) { gradient(@f)(%x, %n) }`,
    [0.8, { int: 5 }],
  ],
  [
    'a loop whose end depends on elements',
    `def @loop(%x: Tensor[(), float64], %limit: Tensor[(), float64]) -> Tensor[(), float64] {
      if (less(%x, %limit)) { @loop(mul(%x, add(1f64, mul(%x, %x))), %limit) } else { %x }
    }
    def @f(%x: Tensor[(), float64]) { @loop(%x, 50f64) }
    def @main(%x: Tensor[(), float64]) { gradient(@f)(%x) }`,
    [0.9],
  ],
  [
    'tensors that grow, so that sizes are known only when the program runs',
    `def @grow(%x: Tensor[(n,), float64], %k: int) -> Tensor[(?,), float64] {
      if (int_lt(#0, %k)) { @grow(concat(%x, mul(%x, %x), axis=0), int_sub(%k, #1)) } else { %x }
    }
    def @f(%x: Tensor[(n,), float64], %k: int) { reduce_sum(@grow(%x, %k)) }
    def @main(%x: Tensor[(n,), float64], %k: int) { gradient(@f)(%x, %k) }`,
    [[0.5, -1.2], { int: 2 }],
  ],
  [
    'a list that a function builds and another one folds',
    `def @build(%x: Tensor[(n,), float64], %k: int) -> List[Tensor[(n,), float64]] {
      if (%k) { Cons(%x, @build(sin(%x), int_sub(%k, #1))) } else { Nil }
    }
    def @total(%l: List[Tensor[(n,), float64]]) -> Tensor[(), float64] {
      match (%l) { Cons(%h, %t) => add(reduce_sum(mul(%h, %h)), @total(%t)), Nil => 0f64 }
    }
    def @f(%x: Tensor[(n,), float64], %k: int) { @total(@build(%x, %k)) }
    def @main(%x: Tensor[(n,), float64], %k: int) { gradient(@f)(%x, %k) }`,
    [[0.5, -1.2], { int: 3 }],
  ],
  [
    'data with integers, nested patterns and wildcards',
    `type Shape {
      Circle(Tensor[(), float64], int),
      Box((Tensor[(), float64], Tensor[(), float64])),
      Point,
    }
    def @area(%s: Shape) -> Tensor[(), float64] {
      match (%s) {
        Circle(%r, _) => mul(3f64, mul(%r, %r)),
        Box((%w, %h)) => mul(%w, %h),
        _ => 0f64,
      }
    }
    def @total(%s: List[Shape], %sum: Tensor[(), float64]) -> Tensor[(), float64] {
      match (%s) {
        Cons(%x, %rest) => @total(%rest, add(%sum, @area(%x))),
        Nil => %sum,
      }
    }
    def @f(%x: Tensor[(), float64]) {
      @total(Cons(Circle(%x, #7), Cons(Point, Cons(Box((sin(%x), %x)), Nil))), 0f64)
    }
    def @main(%x: Tensor[(), float64]) { gradient(@f)(%x) }`,
    [0.7],
  ],
  [
    'a tree',
    `def @sum(%t: Tree[Tensor[(), float64]]) -> Tensor[(), float64] {
      match (%t) { Rose(%v, %children) => mul(%v, add(1f64, @sum_all(%children))) }
    }
    def @sum_all(%l: List[Tree[Tensor[(), float64]]]) -> Tensor[(), float64] {
      match (%l) { Cons(%h, %t) => add(@sum(%h), @sum_all(%t)), Nil => 0f64 }
    }
    def @f(%x: Tensor[(), float64], %y: Tensor[(), float64]) {
      @sum(Rose(%x, Cons(Rose(%y, Nil), Cons(Rose(%x, Cons(Rose(%y, Nil), Nil)), Nil))))
    }
    def @main(%x: Tensor[(), float64], %y: Tensor[(), float64]) { gradient(@f)(%x, %y) }`,
    [0.7, -0.4],
  ],
  [
    'closures that capture, passed to functions of functions',
    `def @f(%x: Tensor[(), float64], %y: Tensor[(), float64]) {
      let %by = fn (%e: Tensor[(), float64]) { mul(%e, sin(%x)) };
      %list = @map(%by, Cons(%y, Cons(mul(%x, %y), Nil)));
      @foldl(fn (%a, %b) { add(mul(%a, %y), %b) }, %x, %list)
    }
    def @main(%x: Tensor[(), float64], %y: Tensor[(), float64]) { gradient(@f)(%x, %y) }`,
    [0.7, -0.4],
  ],
  [
    'the gradient of a function that captures',
    `def @f(%x: Tensor[(), float64]) { mul(%x, sin(mul(3f64, %x))) }
    def @main(%x: Tensor[(), float64]) {
      let %k = 3f64;
      gradient(fn (%v: Tensor[(), float64]) { mul(%v, sin(mul(%k, %v))) })(%x)
    }`,
    [0.6],
  ],
  [
    'second derivatives, in a straight line',
    `def @g(%x: Tensor[(n,), float64]) { reduce_sum(mul(%x, mul(%x, sin(%x)))) }
    def @f(%x: Tensor[(n,), float64]) -> Tensor[(), float64] {
      %d = gradient(@g)(%x).1.0;
      reduce_sum(mul(%d, %d))
    }
    def @main(%x: Tensor[(n,), float64]) { gradient(@f)(%x) }`,
    [[0.6, -1.1]],
  ],
  [
    'second derivatives of recursion and branches',
    `def @power(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
      if (int_lt(%n, #1)) { 1f64 } else { mul(sin(%x), @power(%x, int_sub(%n, #1))) }
    }
    def @f(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
      gradient(@power)(%x, %n).1.0
    }
    def @main(%x: Tensor[(), float64], %n: int) { gradient(@f)(%x, %n) }`,
    [0.6, { int: 4 }],
  ],
  [
    'indices that are computed, and sizes that depend on elements',
    `def @f(%x: Tensor[(n,), float64]) {
      let %at: Tensor[(1, k), int64] = nonzero(greater(%x, 0f64));
      %chosen = gather(%x, reshape(%at, shape=[k]), axis=0);
      reduce_sum(mul(%chosen, exp(%chosen)))
    }
    def @main(%x: Tensor[(n,), float64]) { gradient(@f)(%x) }`,
    [[0.5, -1.2, 0.25]],
  ],
];

describe('gradients agree with central differences', () => {
  it.each(PROGRAMS)('%s', async (_, text, args) => {
    await requireGradient(text, args);
  });
});

/** Programs whose functions forward mode differentiates as reverse mode does. */
const FORWARD = PROGRAMS.filter(
  ([title]) => title !== 'the gradient of a function that captures' && !title.includes('second'),
);

describe('forward mode agrees with reverse mode', () => {
  it.each(FORWARD)('%s', async (_, text, args) => {
    const call = /gradient\(@f\)\((.*?)\)/.exec(text)?.[1]?.split(', ') ?? [];
    const values = args.map(valueOf);
    const tangents = values.map((value) =>
      value instanceof HostTensor
        ? HostTensor.from(
            'float64',
            value.shape,
            [...value.data].map((_element, i) => 0.3 + i * 0.1),
          )
        : undefined,
    );
    const params = /def @main\((.*)\) \{/.exec(text)?.[1] ?? '';
    const added = [...params.matchAll(/%(\w+): (Tensor\[.*?float64\])/g)];
    const signature = [params, ...added.map(([, name, type]) => `%d_${name}: ${type}`)].join(', ');
    const given = call.map((name, i) => (tangents[i] === undefined ? '()' : `%d_${name.slice(1)}`));
    const { run } = await loadProgram(
      `${text.slice(0, text.indexOf('def @main'))}
      def @main(${signature}) {
        (gradient(@f)(${call.join(', ')}), jvp(@f)(${[...call, ...given].join(', ')}))
      }`,
    );
    const directions = tangents.filter((tangent) => tangent !== undefined);
    const result = await run('main', ...values, ...directions);
    const [, reverse, forward] = result as [number, unknown[], number[]];
    const gradients = (reverse[2] as unknown[]).slice(1).flatMap(numbersOf);
    const along = directions.flatMap((tangent) => [...tangent.data].map(Number));
    const sum = along.reduce((total, x, i) => total + x * (gradients[i] ?? 0), 0);
    expect(forward[1]).toBe(reverse[1]);
    expect((forward[2] ?? 0) / Math.max(1, Math.abs(sum))).toBeCloseTo(
      sum / Math.max(1, Math.abs(sum)),
      8,
    );
  });
});

it('a straight line becomes a straight line', () => {
  const text = textAfter(
    ['gradient', 'to-graph', 'simplify', 'eliminate-common-subexpressions'],
    `def @f(%w: Tensor[(2, 3), float32], %x: Tensor[(n, 2), float32]) {
      %y = tanh(matmul(%x, %w));
      reduce_sum(mul(%y, %y))
    }
    def @main(%w: Tensor[(2, 3), float32], %x: Tensor[(n, 2), float32]) {
      gradient(@f)(%w, %x).1.0
    }`,
  );
  expect(text).toMatchInlineSnapshot(`
    "def @f(%w: Tensor[(2, 3), float32], %x: Tensor[(n, 2), float32]) -> Tensor[(), float32] {
      %0 = matmul(%x, %w);
      %1 = tanh(%0);
      %2 = mul(%1, %1);
      reduce_sum(%2)
    }

    def @main(%w: Tensor[(2, 3), float32], %x: Tensor[(n, 2), float32]) -> Tensor[(2, 3), float32] {
      %0 = reshape(1f, shape=[1, 1]);
      %1 = broadcast_to(%0, shape=[n, 3]);
      %2 = matmul(%x, %w);
      %3 = tanh(%2);
      %4 = mul(%1, %3);
      %5 = add(%4, %4);
      %6 = mul(%3, %3);
      %7 = sub(1f, %6);
      %8 = mul(%5, %7);
      gemm(%x, %8, trans_a=true)
    }
    "
  `);
});

it('a chain of calls gives code in proportion, and no other copy of it', () => {
  const callsFor = (length: number): number => {
    const names = ['tanh', 'exp', 'sigmoid', 'sin'];
    const steps = Array.from(
      { length },
      (_, i) => `let %v${i + 1} = ${names[i % names.length]}(%v${i});`,
    );
    const text = `def @main(%x: Tensor[(n,), float32]) {
      gradient(fn (%v0: Tensor[(n,), float32]) { ${steps.join(' ')} reduce_sum(%v${length}) })(%x)
    }`;
    let calls = 0;
    compile(parseModule(text), {
      dump(pass, { functions }) {
        if (pass !== 'gradient') return;
        const all = [...functions.values()].flatMap(({ body }) => postOrder(body));
        calls = all.filter(({ kind }) => kind === 'call').length;
      },
    });
    return calls;
  };
  const [short, long] = [callsFor(100), callsFor(400)];
  expect((long - short) / 300).toBeLessThanOrEqual(4);
  expect(long - 4 * short).toBeLessThanOrEqual(0);
});

it('second derivatives of a recursion take steps in proportion to its calls', async () => {
  const { launches } = await loadProgram(`
    def @power(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
      if (%n) { mul(sin(%x), @power(%x, int_sub(%n, #1))) } else { 1f64 }
    }
    def @slope(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
      gradient(@power)(%x, %n).1.0
    }
    def @main(%x: Tensor[(), float64], %n: int) { gradient(@slope)(%x, %n) }`);
  const stepsFor = async (calls: number): Promise<number> =>
    (await launches('main', valueOf(0.9), calls)).length;
  const [few, more, many] = [await stepsFor(4), await stepsFor(8), await stepsFor(16)];
  expect(more - few).toBeGreaterThan(0);
  expect(many - more).toBe(2 * (more - few));
});

it('a cotangent is taken for a result of any type', async () => {
  const { run } = await loadProgram(`
    def @f(%x: Tensor[(n,), float32], %k: int) { (mul(%x, %x), %k) }
    def @main(%x: Tensor[(n,), float32]) { vjp(@f)(%x, #3, ([1f, 10f], ())) }`);
  const x = HostTensor.from('float32', [2], [3, 4]);
  expect(await run('main', x)).toEqual([0, [0, [9, 16], 3], [0, [6, 80], [0]]]);
});

it('the program may bring an adjoint along, and may end derivatives', async () => {
  const { run } = await loadProgram(`

    def @straight(%x: Tensor[(), float32], %y: Tensor[(), float32], %d: Tensor[(), float32])
        -> (Tensor[(), float32],) { (mul(%d, 100f),) }
    def @sq(%x: Tensor[(), float32]) -> Tensor[(), float32] { mul(%x, %x) }
    def @f(%x: Tensor[(), float32]) {
      add(custom_gradient(@sq, @straight)(%x), mul(%x, stop_gradient(%x)))
    }
    def @main(%x: Tensor[(), float32]) { gradient(@f)(%x) }`);
  expect(await run('main', HostTensor.from('float32', [], [3]))).toEqual([0, 18, [0, 103]]);
});

it('the nearest elements of a resized axis have derivatives, and their scale has none', async () => {
  const { run } = await loadProgram(`
    def @f(%x: Tensor[(2,), float32], %s: Tensor[(1,), float32]) {
      reduce_sum(mul(gather(%x, resize_table(%s, sizes=[2, 3]), axis=0), [1f, 2f, 4f]))
    }
    def @main(%x: Tensor[(2,), float32], %s: Tensor[(1,), float32]) { gradient(@f)(%x, %s) }`);
  const [x, scale] = [[3, 5], [1.5]].map((data) => HostTensor.from('float32', [data.length], data));
  const result = await run('main', ...[x, scale].filter((one) => one !== undefined));
  expect(result).toMatchInlineSnapshot(`
    [
      0,
      29,
      [
        0,
        [
          3,
          4,
        ],
        [
          0,
        ],
      ],
    ]
  `);
});

describe('errors name the call and its place', () => {
  const message = (text: string): string => {
    try {
      compile(parseModule(text, { file: 'f.ir' }));
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return printModule(parseModule(text));
  };

  it('an operator without an adjoint', () => {
    const text = `kernel @blend(%a: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
  wgsl = """fn main() {}""", grid = [1, 1, 1], workgroup = [64, 1, 1]
}
def @f(%x: Tensor[(n,), float32]) { reduce_sum(@blend(%x)) }
def @main(%x: Tensor[(n,), float32]) { gradient(@f)(%x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"f.ir:1:8: wgsl_kernel: got a derivative of it, expected an operator with an adjoint. Put it into a function and give that an adjoint with custom_gradient."`,
    );
  });

  it('a table of weights whose scale gets derivatives', () => {
    const reads = (
      body: string,
    ): string => `def @f(%x: Tensor[(4,), float32], %s: Tensor[(1,), float32]) {
  %t = resize_table(%s, sizes=[4, 8], taps=[2], mode="linear");
  reduce_sum(${body})
}
def @main(%x: Tensor[(4,), float32], %s: Tensor[(1,), float32]) { gradient(@f)(%x, %s) }`;
    expect(message(reads('resample(%x, %t, axis=0)'))).toMatchInlineSnapshot(
      `"f.ir:3:14: resample: input table: got a table that gets derivatives, expected one that follows from sizes. Put stop_gradient around it."`,
    );
    expect(message(reads('%t'))).toMatchInlineSnapshot(
      `"f.ir:2:8: resize_table: got a derivative of it, expected an operator with an adjoint. Put it into a function and give that an adjoint with custom_gradient."`,
    );
    const stopped = parseModule(reads('resample(%x, stop_gradient(%t), axis=0)'));
    expect(() => compile(stopped)).not.toThrow();
  });

  it('a function of JavaScript', () => {
    const text = `extern def @ask(%x: Tensor[(), float32]) -> Tensor[(), float32]
def @f(%x: Tensor[(), float32]) { mul(%x, @ask(%x)) }
def @main(%x: Tensor[(), float32]) { gradient(@f)(%x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"f.ir:1:12: got a derivative of call_packed, expected code that can be differentiated. Give it an adjoint with custom_gradient, or end derivatives with stop_gradient."`,
    );
  });

  it('a function that the caller passes', () => {
    const text = `def @f(%g: fn (Tensor[(), float32]) -> Tensor[(), float32], %x: Tensor[(), float32]) { %g(%x) }
def @main(%g: fn (Tensor[(), float32]) -> Tensor[(), float32], %x: Tensor[(), float32]) { gradient(@f)(%g, %x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"f.ir:1:88: got a derivative of a function that the caller of the program passes, expected functions that are part of the program."`,
    );
  });

  it('a function that asks for its own derivative', () => {
    const text = `def @f(%x: Tensor[(), float32]) -> Tensor[(), float32] { gradient(@f)(%x).0 }
def @main(%x: Tensor[(), float32]) { @f(%x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"@f: got a derivative of a function that asks for its own, expected derivatives of other functions."`,
    );
  });

  it('a result that is no number', () => {
    const text = `def @f(%x: Tensor[(n,), float32]) { relu(%x) }
def @main(%x: Tensor[(n,), float32]) { gradient(@f)(%x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"f.ir:2:40: gradient: the result of the function: got Tensor[(?,), float32], expected a float of rank 0. Use vjp for a function with other results."`,
    );
  });

  it('an adjoint of another type', () => {
    const text = `def @f(%x: Tensor[(), float32]) -> Tensor[(), float32] { relu(%x) }
def @main(%x: Tensor[(), float32]) { custom_gradient(@f, @f)(%x) }`;
    expect(message(text)).toMatchInlineSnapshot(
      `"f.ir:2:38: custom_gradient: the adjoint: got fn (Tensor[(), float32]) -> Tensor[(), float32], expected fn (Tensor[(), float32], Tensor[(), float32], Tensor[(), float32]) -> (Tensor[(), float32],)."`,
    );
  });
});
