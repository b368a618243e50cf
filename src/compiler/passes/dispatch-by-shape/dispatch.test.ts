import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { sharedNodeGpu } from '../../../testing/node-gpu.ts';
import { seededRandom } from '../../../core/random.ts';
import { compile, type CompileOptions, type Executable } from '../../compile.ts';
import { call, constant, func, moduleOf, variable } from '../../ir/build.ts';
import type { Module } from '../../ir/expr.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { equalModules } from '../../ir/walk/structural-equal.ts';
import { dispatchByShape } from './dispatch-by-shape.ts';
import { f32, loadProgram } from '../../testing/load-program.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { verifyModule } from '../../verify/verify-module.ts';
import { dispatch, type FunctionDispatch, intervalsOf } from './dispatch.ts';
import { chosen, logarithmic, uniform } from './dispatchers.ts';
import type { AxisDispatcher, DimRange } from './interval.ts';

const ANY_SIZE = { min: 0, max: 2 ** 31 - 1 };

const shown = (by: AxisDispatcher, known: DimRange): string =>
  JSON.stringify(intervalsOf(by, known, 'here').map(({ interval }) => interval));

describe('dispatchers', () => {
  test('uniform', () => {
    const by = uniform({ min: 1, max: 6, step: 2 });
    expect(shown(by, ANY_SIZE)).toBe('[[1,3],[3,5],[5,7]]');
    const last = uniform({ min: 1, max: 4, step: 2 });
    expect(shown(last, ANY_SIZE)).toBe('[[1,3],[3,5]]');
  });

  test('logarithmic', () => {
    const by = logarithmic({ min: 1, max: 16, base: 2 });
    expect(shown(by, ANY_SIZE)).toBe('[[1,2],[2,4],[4,8],[8,16],[16,17]]');
    const from = logarithmic({ min: 0, max: 50, base: 10 });
    expect(shown(from, ANY_SIZE)).toBe('[[0,1],[1,10],[10,51]]');
  });

  test('take the bounds of the dimension', () => {
    const known = { min: 3, max: 9 };
    expect(shown(logarithmic(), known)).toBe('[[3,4],[4,8],[8,10]]');
    expect(() =>
      intervalsOf(uniform({ step: 1 }), ANY_SIZE, 'here'),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: uniform: got more than 4096 intervals from 0 to 2147483647, expected fewer. Give a smaller max, or bounds of the dimension.]`,
    );
  });

  test('refuse what makes no sense', () => {
    expect(() => uniform({ step: 0 })).toThrow(
      'uniform: got 0 as step, expected an integer from 1',
    );
    expect(() => logarithmic({ base: 1 })).toThrow('got 1 as base, expected an integer from 2 up');
    const backwards = uniform({ min: 5, max: 2, step: 1 });
    expect(() => intervalsOf(backwards, ANY_SIZE, 'here')).toThrow('got 2 as max');
    expect(() => intervalsOf([[2, 2]], ANY_SIZE, 'here')).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: here: got [2, 2], expected [from, below] with integers, from less than below, which may be null for no end.]`,
    );
    const overlap = [
      [1, 4],
      [3, 5],
    ] as const;
    expect(() => intervalsOf(overlap, ANY_SIZE, 'here')).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: here: got [3, 5] after sizes below 4, expected intervals in ascending order, from 0 up.]`,
    );
    expect(() => intervalsOf([], ANY_SIZE, 'here')).toThrow('here: got no intervals');
  });
});

const SLICED = `def @main(%x: Tensor[(n, m), float32], %w: Tensor[(m, 3), float32]) {
  %y = matmul(%x, %w);
  slice(%y, starts=[0, 0], ends=[2, 3], steps=[1, 1])
}`;

function dispatched(text: string, by: FunctionDispatch) {
  const module = parseModule(text);
  const { module: result, report } = dispatch(module, 'main', by);
  verifyModule(result);
  const printed = printModule(result);
  expect(equalModules(parseModule(printed), result)).toBe(true);
  return { printed, report, names: [...result.functions.keys()] };
}

describe('dispatch', () => {
  test('makes a clone for each combination', () => {
    const { printed, report } = dispatched(SLICED, {
      x: {
        0: [
          [1, 2],
          [2, 8],
        ],
        1: [[1, 9]],
      },
    });
    expect(printed).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, m), float32], %w: Tensor[(m, 3), float32], bounds={n: (1, 7), m: (1, 8)}) -> Tensor[(min(n, 2), 3), float32] {
        %0 = dim(%x, axis=0);
        %1 = int_lt(%0, #2);
        if (%1) {
          %2 = @main.n_1.m_1_8(%x, %w);
          reshape(%2, shape=[min(n, 2), 3])
        } else {
          @main.n_2_7.m_1_8(%x, %w)
        }
      }

      def @main.n_1.m_1_8(%x: Tensor[(1, m_1_8), float32], %w: Tensor[(m_1_8, 3), float32], bounds={m_1_8: (1, 8)}) -> Tensor[(1, 3), float32] {
        %0 = matmul(%x, %w);
        slice(%0, starts=[0, 0], ends=[2, 3], steps=[1, 1])
      }

      def @main.n_2_7.m_1_8(%x: Tensor[(n_2_7, m_1_8), float32], %w: Tensor[(m_1_8, 3), float32], bounds={n_2_7: (2, 7), m_1_8: (1, 8)}) -> Tensor[(min(n_2_7, 2), 3), float32] {
        %0 = matmul(%x, %w);
        slice(%0, starts=[0, 0], ends=[2, 3], steps=[1, 1])
      }
      "
    `);
    expect(report).toMatchInlineSnapshot(`
      {
        "clones": 2,
        "expressionsAfter": 22,
        "expressionsBefore": 5,
        "name": "main",
        "pruned": 0,
      }
    `);
  });

  test('leaves a module alone when there is nothing to dispatch', () => {
    const module = parseModule(SLICED);
    expect(dispatchByShape({}).run(module, { types: new TypeInference() })).toBe(module);
  });

  test('prunes what no sizes can be in', () => {
    const buckets = logarithmic({ min: 1, max: 15 });
    const square = 'def @main(%x: Tensor[(n, n, 6), float32]) { relu(%x) }';
    const same = dispatched(square, { x: { 0: buckets, 1: buckets } });
    expect(same.report).toMatchObject({ clones: 4, pruned: 12 });
    const fixed = dispatched(square, { x: { 0: buckets, 2: buckets } });
    expect(fixed.report).toMatchObject({ clones: 4, pruned: 12 });
    const bounded = 'def @main(%x: Tensor[(n, 6), float32], bounds={n: (3, 5)}) { relu(%x) }';
    const { report, names } = dispatched(bounded, { x: { 0: buckets } });
    expect(report).toMatchObject({ clones: 2, pruned: 2 });
    expect(names).toEqual(['main', 'main.n_3', 'main.n_4_5']);
    const next = 'def @main(%x: Tensor[(n,), float32], %y: Tensor[(n + 1,), float32]) { (%x, %y) }';
    const computed = dispatched(next, { x: { 0: buckets }, y: { 0: buckets } });
    expect(computed.report).toMatchObject({ clones: 6, pruned: 10 });
  });

  test('a dimension without a name', () => {
    const { names } = dispatched('def @main(%x: Tensor[(?, 2), float32]) { relu(%x) }', {
      x: { 0: uniform({ min: 1, max: 4, step: 2 }) },
    });
    expect(names).toEqual(['main', 'main.x_0_1_2', 'main.x_0_3_4']);
  });

  test('names what a function does not have', () => {
    const refuse = (name: string, by: FunctionDispatch) => () =>
      dispatch(parseModule(SLICED), name, by);
    const some = [[1, 2]] as const;
    expect(refuse('mian', { x: { 0: some } })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dispatch: got the function mian, expected one of main. Did you mean main?]`,
    );
    expect(refuse('main', { data: { 0: some } })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dispatch of main: got the parameter data, expected one of x, w.]`,
    );
    expect(refuse('main', { x: { 2: some } })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dispatch of main: got axis 2 of parameter x, expected an axis of a parameter that is a tensor.]`,
    );
    expect(refuse('main', {})).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dispatch of main: got no axis, expected at least one.]`,
    );
    expect(refuse('main', { w: { 1: some } })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dispatch of main: got intervals that no sizes can be in, expected intervals within the bounds of the dimensions.]`,
    );
  });
});

const NEGATED = 'def @main(%x: Tensor[(n,), float32]) { neg(%x) }';

describe('sizes without an end', () => {
  const small = [
    [1, 2],
    [2, 8],
  ] as const;
  const open = [
    [1, 2],
    [2, 257],
    [257, Infinity],
  ] as const;

  test.each<[string, AxisDispatcher]>([
    ['Infinity', open],
    ['null, which JSON has', JSON.parse(JSON.stringify(open)) as AxisDispatcher],
    ['min alone', [{ min: 1, max: 1 }, { min: 2, max: 256 }, { min: 257 }]],
    ['a function', chosen((size) => (size < 2 ? 0 : size <= 256 ? 1 : 2), { min: 1 })],
  ])('are an open last interval, by %s', async (_, by) => {
    const { printed, report, names } = dispatched(NEGATED, { x: { 0: by } });
    expect(names).toEqual(['main', 'main.n_1', 'main.n_2_256', 'main.n_257_up']);
    expect(report).toMatchObject({ clones: 3, pruned: 0 });
    expect(printed).toContain('bounds={n: (1, 2147483647)}');
    expect(printed).toContain('bounds={n_257_up: (257, 2147483647)}');
    const { run } = await loadProgram(NEGATED, { dispatch: { main: { x: { 0: by } } } });
    for (const size of [1, 2, 256, 257, 5000]) {
      const result = await run('main', HostTensor.splat('float32', [size], 1));
      expect(result).toEqual(new Array(size).fill(-1));
    }
    await expect(run('main', HostTensor.zeros('float32', [0]))).rejects.toThrow(
      'where dimension 0 is from 1 to 2147483647: got 0',
    );
  });

  test('follow rules that are open', () => {
    const by = logarithmic({ min: 1, max: 7, open: true });
    expect(shown(by, ANY_SIZE)).toBe('[[1,2],[2,4],[4,8],[8,2147483648]]');
    expect(shown(uniform({ min: 1, max: 4, step: 4, open: true }), ANY_SIZE)).toBe(
      '[[1,5],[5,2147483648]]',
    );
  });

  test('are only the last ones', () => {
    const again = [{ min: 4 }, [9, 12]] as const;
    expect(() => intervalsOf(again, ANY_SIZE, 'here')).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: here: got [9, 12] after sizes below 2147483648, expected intervals in ascending order, from 0 up.]`,
    );
    expect(() => intervalsOf([[Infinity, Infinity]], ANY_SIZE, 'here')).toThrow(
      'here: got [Infinity, Infinity], expected [from, below]',
    );
    const unknown = { intervals: small, otherwise: 'fail' } as never;
    expect(() => intervalsOf(unknown, ANY_SIZE, 'here')).toThrow(
      'here: got otherwise "fail", expected "generic", or nothing.',
    );
  });

  test('or those of no interval run the function as it is', async () => {
    const by = {
      intervals: [
        [1, 2],
        [4, 8],
      ],
      otherwise: 'generic',
    } as const;
    const { printed, report } = dispatched(NEGATED, { x: { 0: by } });
    expect(printed).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        %0 = dim(%x, axis=0);
        %1 = int_lt(%0, #2);
        if (%1) {
          %2 = int_lt(%0, #1);
          if (%2) {
            @main.generic(%x)
          } else {
            %3 = @main.n_1(%x);
            reshape(%3, shape=["n"])
          }
        } else {
          %4 = int_lt(%0, #4);
          if (%4) {
            @main.generic(%x)
          } else {
            %5 = int_lt(%0, #8);
            if (%5) {
              @main.n_4_7(%x)
            } else {
              @main.generic(%x)
            }
          }
        }
      }

      def @main.generic(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        neg(%x)
      }

      def @main.n_1(%x: Tensor[(1,), float32]) -> Tensor[(1,), float32] {
        neg(%x)
      }

      def @main.n_4_7(%x: Tensor[(n_4_7,), float32], bounds={n_4_7: (4, 7)}) -> Tensor[(n_4_7,), float32] {
        neg(%x)
      }
      "
    `);
    expect(report).toMatchObject({ clones: 2, pruned: 0 });
    const { run } = await loadProgram(NEGATED, { dispatch: { main: { x: { 0: by } } } });
    for (const size of [0, 1, 2, 3, 4, 7, 8, 3000]) {
      const result = await run('main', HostTensor.splat('float32', [size], 1));
      expect(result).toEqual(new Array(size).fill(-1));
    }
  });

  test('of two axes share one function as it is', () => {
    const by = { intervals: small, otherwise: 'generic' } as const;
    const { names, report } = dispatched(SLICED, { x: { 0: by, 1: by } });
    expect(names.filter((name) => name.endsWith('generic'))).toEqual(['main.generic']);
    expect(report).toMatchObject({ clones: 4, pruned: 0 });
  });
});

describe('a function chooses the clone', () => {
  test('of which there is one for all its sizes', async () => {
    const by = chosen((size) => (size > 12 ? undefined : size % 4 === 0 ? 0 : 1), {
      min: 1,
      max: 20,
    });
    const { names, report } = dispatched(NEGATED, { x: { 0: by } });
    expect(names).toEqual(['main', 'main.n_1_11', 'main.n_4_12', 'main.generic']);
    expect(report).toMatchObject({ clones: 2, pruned: 0 });
    const { run } = await loadProgram(NEGATED, { dispatch: { main: { x: { 0: by } } } });
    for (const size of [1, 3, 4, 5, 11, 12, 13, 20]) {
      const result = await run('main', HostTensor.splat('float32', [size], 1));
      expect(result).toEqual(new Array(size).fill(-1));
    }
  });

  test('within the bounds of the dimension, and prunes', () => {
    const bounded = 'def @main(%x: Tensor[(n, 6), float32], bounds={n: (3, 5)}) { relu(%x) }';
    const asked: number[] = [];
    const by = chosen((size) => {
      asked.push(size);
      return size === 3 ? 7 : 2;
    });
    expect(dispatched(bounded, { x: { 0: by } }).names).toEqual(['main', 'main.n_3', 'main.n_4_5']);
    expect(asked).toEqual([3, 4, 5]);
    const wide = chosen((size) => Math.min(2, Math.floor(size / 4)), { min: 0, max: 99 });
    const { names, report } = dispatched(bounded, { x: { 0: wide } });
    expect(names).toEqual(['main', 'main.n_3', 'main.n_4_5']);
    expect(report).toMatchObject({ clones: 2, pruned: 1 });
  });

  test('by an index', () => {
    const by = (choose: (size: number) => unknown) => () =>
      intervalsOf(chosen(choose as (size: number) => number, { max: 3 }), ANY_SIZE, 'here');
    expect(by(() => -1)).toThrow(
      'chosen: got -1 for size 0, expected the index of a clone, an integer from 0 up, or undefined.',
    );
    expect(by(() => 'first')).toThrow('chosen: got first for size 0');
    const many = chosen((size) => size % 2, { min: 0, max: 10_000 });
    expect(() => intervalsOf(many, ANY_SIZE, 'here')).toThrow('more than 4096 intervals');
  });
});

test('docs/compiler-shapes.md shows what becomes of a program', () => {
  const document = readFileSync(
    new URL('../../../../docs/compiler-shapes.md', import.meta.url),
    'utf8',
  );
  const shown = /<!-- dispatch -->\n\n```\n(.*?)```\n\nbecomes\n\n```\n(.*?)```\n/s.exec(document);
  const [, program = '', expected] = shown ?? [];
  const by = [
    [1, 2],
    [2, 8],
  ] as const;
  expect(dispatched(program, { x: { 0: by } }).printed).toBe(expected);
});

describe('a dispatched program', () => {
  test('refuses sizes outside of all intervals, and between them', async () => {
    const by = {
      x: {
        0: [
          [1, 2],
          [4, 6],
          [8, 9],
        ],
      },
    } as const;
    const { run } = await loadProgram('def @main(%x: Tensor[(n,), float32]) { neg(%x) }', {
      dispatch: { main: by },
    });
    const main = (size: number) => run('main', HostTensor.splat('float32', [size], 1));
    expect(await main(1)).toEqual([-1]);
    expect(await main(4)).toEqual([-1, -1, -1, -1]);
    expect(await main(5)).toHaveLength(5);
    expect(await main(8)).toHaveLength(8);
    await expect(main(9)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [ShapeError: ir:1:11: input "x", where dimension 0 is from 1 to 8: got 9 at dimension 0 of shape (9,), expected 8.
          at main, instruction 4 (line 8), from ir:1:11: call vm.builtin.match_shape(%0, %1, 1, 3, 3, c[2])]
    `);
    await expect(main(0)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [ShapeError: ir:1:11: input "x", where dimension 0 is from 1 to 8: got 0 at dimension 0 of shape (0,), expected 1.
          at main, instruction 4 (line 8), from ir:1:11: call vm.builtin.match_shape(%0, %1, 1, 3, 3, c[2])]
    `);
    await expect(main(3)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [ShapeError: ir:1:5, argument 1: got dimension n, expected 1.: got 3 at dimension 0 of shape (3,), expected 1.
          at main, instruction 9 (line 13), from ir:1:5: call vm.builtin.match_shape(%4, %1, 1, 0, 1, c[3])]
    `);
    await expect(main(7)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [ShapeError: ir:1:11: input "x", where dimension 0 is from 4 to 5: got 7 at dimension 0 of shape (7,), expected 5.
          at main.n_4_5, instruction 4 (line 53), from ir:1:11: call vm.builtin.match_shape(%0, %1, 1, 3, 2, c[7])]
    `);
  });

  test('may call itself with other sizes', async () => {
    const text = `
      def @last(%x: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
        if (int_lt(dim(%x, axis=0), #2)) { %x } else {
          @last(slice(%x, starts=[1], ends=[n], steps=[1]))
        }
      }`;
    const by = { last: { x: { 0: logarithmic({ min: 1, max: 8 }) } } };
    const { run } = await loadProgram(text, { dispatch: by });
    expect(await run('last', f32([7], 1, 2, 3, 4, 5, 6, 7))).toEqual([7]);
  });

  test('uses what is known of the sizes', () => {
    const kernels = ({ functions }: Executable): string[] =>
      functions.map(({ name }) => name).filter((name) => name.startsWith('main'));
    const by = {
      main: {
        x: {
          0: [
            [1, 2],
            [2, 8],
          ],
        },
      },
    } as const;
    const executable = compile(parseModule(SLICED), { dispatch: by });
    expect(kernels(executable)).toEqual(['main', 'main.n_1', 'main.n_2_7']);
    const text = executable.toText();
    // With one row there is nothing to cut off; with two or more the result has two.
    expect(text.split('= slice(')).toHaveLength(2);
    expect(text).toContain('(%1: Tensor[(2, 3), float32])');
  });
});

const ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const COLUMNS = [1, 3, 5, 7, 9, 11, 13, 15, 17];
const DISPATCH = {
  main: {
    data: {
      0: logarithmic({ min: 1, max: 256, base: 2 }),
      1: uniform({ min: 1, max: 18, step: 2 }),
    },
  },
};

/** relu(data · w) · v + data, where data is (n, m, 8). */
function twoAxes(): Module {
  const random = seededRandom(5);
  const weights = (): HostTensor =>
    HostTensor.from(
      'float32',
      [8, 8],
      Array.from({ length: 64 }, () => random() - 0.5),
    );
  const data = variable('data', 'float32', ['n', 'm', 8]);
  // The product of the weights with 2 is one of those that are computed while compiling.
  const w = call('mul', [constant(weights()), constant(HostTensor.splat('float32', [8], 2))]);
  const hidden = call('relu', [call('matmul', [data, w])]);
  const product = call('matmul', [hidden, constant(weights())]);
  return moduleOf({ main: func([data], call('add', [product, data])) });
}

async function runner(options: CompileOptions, device: Device) {
  const executable = compile(twoAxes(), options);
  const vm = await VirtualMachine.create(executable, { devices: [device] });
  const run = async (n: number, m: number): Promise<HostTensor> => {
    const count = n * m * 8;
    const data = Float32Array.from({ length: count }, (_, i) => Math.sin(i + n));
    const input = vm.tensor(new HostTensor('float32', [n, m, 8], data));
    const result = await vm.get('main')(input);
    if (!(result instanceof TensorValue)) throw new Error('the result is no tensor');
    const [tensor] = await vm.read([result]);
    vm.release(result);
    if (tensor === undefined) throw new Error('no result');
    return tensor;
  };
  return { executable, vm, run };
}

describe('two dynamic axes of nine intervals', () => {
  test('81 clones share one copy of the weights', () => {
    const plain = compile(twoAxes());
    const reports: unknown[] = [];
    const executable = compile(twoAxes(), {
      dispatch: DISPATCH,
      onDispatch: (report) => reports.push(report),
    });
    expect(executable.functions).toHaveLength(82);
    expect(executable.data.byteLength).toBe(plain.data.byteLength);
    expect(plain.data.byteLength).toBeLessThan(1024);
    // One row or any number of them: kernels do not depend on the names of symbols.
    expect(executable.primitives.map(({ name }) => name)).toMatchInlineSnapshot(`
      [
        "matmul_relu",
        "matmul_add",
        "matmul_relu.1",
        "matmul_add.1",
        "matmul_relu.2",
        "matmul_add.2",
      ]
    `);
    expect(reports).toMatchInlineSnapshot(`
      [
        {
          "clones": 81,
          "expressionsAfter": 1072,
          "expressionsBefore": 8,
          "name": "main",
          "pruned": 0,
        },
      ]
    `);
    const again = compile(twoAxes(), { dispatch: DISPATCH });
    expect(Buffer.compare(executable.toBytes(), again.toBytes())).toBe(0);
  });

  test('computes in all clones what the program does without', async () => {
    const plain = await runner({}, createHostDevice());
    const clones = await runner({ dispatch: DISPATCH }, createHostDevice());
    for (const n of ROWS) {
      for (const m of COLUMNS) {
        const [actual, expected] = [await clones.run(n, m), await plain.run(n, m)];
        expect(actual.shape).toEqual([n, m, 8]);
        expect(actual.data).toEqual(expected.data);
      }
    }
    plain.vm.dispose();
    clones.vm.dispose();
  });

  test('and on WebGPU', async () => {
    const plain = await runner({}, createHostDevice());
    const device = await createWebGpuDevice({
      gpu: await sharedNodeGpu(),
      operators: CORE_OPERATORS,
    });
    const clones = await runner({ dispatch: DISPATCH }, device);
    for (const [n, m] of [
      [1, 1],
      [2, 18],
      [7, 5],
    ] as const) {
      const [actual, expected] = [await clones.run(n, m), await plain.run(n, m)];
      expect(firstDifference(actual, expected, { rtol: 1e-4, atol: 1e-5 })).toBeUndefined();
    }
    plain.vm.dispose();
    clones.vm.dispose();
    device.destroy();
  });
});
