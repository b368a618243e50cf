import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../../../client/index.ts';
import { UnsupportedError } from '../../../../core/errors.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { Device } from '../../../../device/device.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { createWebGpuDevice } from '../../../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../../../ops/tables/core-operators.ts';
import { AdtValue, TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import {
  type OnnxGraphSpec,
  type OnnxModelSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../../testing/onnx-writer.ts';
import { sharedNodeGpu } from '../../../../testing/node-gpu.ts';
import { compileOnnx } from '../../compile-onnx.ts';
import type { CompileOnnxOptions } from '../../compile-in-turns.ts';

/** Opens a program on a device, and gives back what it computes for inputs. */
async function open(
  spec: OnnxModelSpec,
  device: Device = createHostDevice(),
  options: CompileOnnxOptions = {},
): Promise<(...inputs: readonly HostTensor[]) => Promise<HostTensor[]>> {
  const executable = compileOnnx(writeOnnxModel(spec), options);
  const vm = await VirtualMachine.create(executable, { devices: [device] });
  return async (...inputs) => {
    const result = await vm.get('main')(...inputs.map((input) => vm.tensor(input)));
    const fields = result instanceof AdtValue ? result.fields : [result];
    return vm.read(fields.filter((field) => field instanceof TensorValue));
  };
}

const floats = (shape: readonly number[], ...values: number[]) =>
  HostTensor.from('float32', shape, values);
const int64 = (value: number) => HostTensor.from('int64', [], [value]);
const bool = (value: boolean) => HostTensor.from('bool', [], [value ? 1 : 0]);
const described = ({ shape, data }: HostTensor) =>
  `(${shape.join(', ')}): ${Array.from(data, Number).join(' ')}`;

const node = (
  op: string,
  inputs: readonly string[],
  outputs: string | readonly string[],
  attributes: OnnxNodeSpec['attributes'] = {},
): OnnxNodeSpec => ({
  op,
  inputs,
  outputs: typeof outputs === 'string' ? [outputs] : outputs,
  attributes,
});

const scalarInput = (name: string, dtype: 'int64' | 'bool' | 'float32') => ({
  name,
  dtype,
  shape: [],
});

describe('If', () => {
  const branch = (...nodes: OnnxNodeSpec[]): OnnxGraphSpec => ({ nodes, outputs: ['out'] });
  const spec: OnnxModelSpec = {
    inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n', 2] }],
    nodes: [
      node('Exp', ['x'], 'e'),
      node('If', ['c'], 'y', {
        then_branch: { graph: branch(node('Concat', ['x', 'e'], 'out', { axis: 0 })) },
        else_branch: { graph: branch(node('Neg', ['x'], 'out')) },
      }),
      node('Neg', ['y'], 'z'),
    ],
    outputs: ['z', 'y'],
  };

  test('branches of different sizes, which read values around them', async () => {
    const run = await open(spec);
    const x = floats([1, 2], 0, 1);
    expect((await run(bool(true), x)).map(({ shape }) => shape)).toEqual([
      [2, 2],
      [2, 2],
    ]);
    expect((await run(bool(false), x)).map(described)).toEqual(['(1, 2): 0 1', '(1, 2): 0 -1']);
  });

  test('a constant condition leaves one branch, whatever is in the other', async () => {
    const run = await open({
      inputs: [{ name: 'x', shape: [2] }],
      initializers: { c: bool(false) },
      nodes: [
        node('If', ['c'], 'y', {
          then_branch: { graph: branch(node('Unknown', ['x'], 'out')) },
          else_branch: { graph: branch(node('Neg', ['x'], 'out')) },
        }),
      ],
      outputs: ['y'],
    });
    expect((await run(floats([2], 1, 2))).map(described)).toEqual(['(2): -1 -2']);
  });

  test('a branch may give a value around it, or an initializer of its own', async () => {
    const run = await open({
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: [1] }],
      nodes: [
        node('If', ['c'], 'y', {
          then_branch: { graph: { nodes: [], outputs: ['x'] } },
          else_branch: {
            graph: { nodes: [], initializers: { w: floats([1], 7) }, outputs: ['w'] },
          },
        }),
      ],
      outputs: ['y'],
    });
    const x = floats([1], 3);
    expect((await run(bool(true), x)).map(described)).toEqual(['(1): 3']);
    expect((await run(bool(false), x)).map(described)).toEqual(['(1): 7']);
  });

  const conditional = (
    condition: string,
    output: string,
    [thenBranch, elseBranch]: readonly [OnnxGraphSpec, OnnxGraphSpec],
  ): OnnxNodeSpec =>
    node('If', [condition], output, {
      then_branch: { graph: thenBranch },
      else_branch: { graph: elseBranch },
    });
  const plusThree: OnnxGraphSpec = {
    ...branch(node('Add', ['x', 'w'], 'out')),
    initializers: { w: floats([3], 1, 2, 3) },
  };
  const same = branch(node('Identity', ['x'], 'out'));
  const UNFIT =
    'node "out": add: got (4,) and (3,), expected shapes that broadcast (dimension -1 is 4 and 3). ' +
    'Dimensions must be equal or 1, aligned from the right.';

  test.each([
    ['numbers', 4, {}, UNFIT],
    ['bound', 'n', { dims: { n: 4 } }, UNFIT],
    [
      'dispatched',
      'n',
      { dispatch: { main: { x: { 0: [[3, 4] as const, [4, 5] as const] } } } },
      'broadcast_to: attribute shape: got (3,), expected a shape that float32 (4,) broadcasts to.',
    ],
  ])('a branch whose operands do not fit is a stop: sizes are %s', async (...of) => {
    const [, size, options, unfit] = of;
    const model: OnnxModelSpec = {
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: [size] }],
      nodes: [conditional('c', 'y', [same, plusThree]), node('Neg', ['y'], 'z')],
      outputs: ['z'],
    };
    const run = await open(model, createHostDevice(), options);
    const x = floats([4], 1, 2, 3, 4);
    expect((await run(bool(true), x)).map(described)).toEqual(['(4): -1 -2 -3 -4']);
    await expect(run(bool(false), x)).rejects.toThrow(unfit);
  });

  test('in a branch whose branches both stop, the first of them does', async () => {
    const inner = [plusThree, { ...plusThree, initializers: { w: floats([2], 1, 2) } }] as const;
    const model: OnnxModelSpec = {
      inputs: [scalarInput('c', 'bool'), scalarInput('d', 'bool'), { name: 'x', shape: [4] }],
      nodes: [
        conditional('c', 'y', [
          { nodes: [conditional('d', 'inner', inner)], outputs: ['inner'] },
          same,
        ]),
      ],
      outputs: ['y'],
    };
    const run = await open(model);
    const x = floats([4], 1, 2, 3, 4);
    expect((await run(bool(false), bool(true), x)).map(described)).toEqual(['(4): 1 2 3 4']);
    await expect(run(bool(true), bool(false), x)).rejects.toThrow(UNFIT);
  });

  test.each([
    ['both branches do not fit', plusThree, plusThree, UNFIT],
    [
      'a branch reads what nothing defines',
      same,
      branch(node('Add', ['x', 'nothing'], 'out')),
      'node "out" (Add): got input "nothing", which nothing defines',
    ],
    [
      'a branch in a branch has a name twice',
      same,
      {
        nodes: [
          conditional('c', 'q', [
            same,
            branch(node('Neg', ['x'], 'out'), node('Neg', ['x'], 'out')),
          ]),
        ],
        outputs: ['q'],
      },
      'node "out" (Neg): got output "out", a name that is taken',
    ],
  ])('a model is refused where %s', (_, thenBranch, elseBranch, message) => {
    const model: OnnxModelSpec = {
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: [4] }],
      nodes: [conditional('c', 'y', [thenBranch, elseBranch])],
      outputs: ['y'],
    };
    expect(() => compileOnnx(writeOnnxModel(model))).toThrow(message);
  });

  const zero: OnnxGraphSpec = { nodes: [], initializers: { z: floats([], 0) }, outputs: ['z'] };
  const total = branch(node('ReduceSum', ['x'], 'out', { keepdims: 0 }));

  test('of ranks that differ, what follows is computed for each', async () => {
    const run = await open({
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n'] }],
      nodes: [
        conditional('c', 'y', [zero, same]),
        node('Add', ['y', 'x'], 'sum'),
        node('Neg', ['sum'], 'negative'),
      ],
      outputs: ['negative', 'sum'],
    });
    const x = floats([2], 5, 6);
    expect((await run(bool(true), x)).map(described)).toEqual(['(2): -5 -6', '(2): 5 6']);
    expect((await run(bool(false), x)).map(described)).toEqual(['(2): -10 -12', '(2): 10 12']);
  });

  test('a branch for which what follows cannot be imported stops there', async () => {
    const model: OnnxModelSpec = {
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n', 1] }],
      initializers: { axes: HostTensor.from('int64', [1], [1]) },
      nodes: [
        conditional('c', 'y', [branch(node('Squeeze', ['x', 'axes'], 'out')), same]),
        node('Transpose', ['y'], 't', { perm: [1, 0] }),
      ],
      outputs: ['t'],
    };
    const run = await open(model);
    const x = floats([2, 1], 1, 2);
    expect((await run(bool(false), x)).map(described)).toEqual(['(1, 2): 1 2']);
    await expect(run(bool(true), x)).rejects.toThrow(
      'node "t": transpose: attribute perm: got [1, 0], expected 1 integer.',
    );
    // The sizes of the branch that is left are those of the input.
    const { results } = compileOnnx(writeOnnxModel(model)).functions[0]?.signature ?? {};
    expect(results).toMatchObject([{ type: { shape: [1, 'n'] } }]);
  });

  test('shapes of different lengths are known in what follows', async () => {
    const shape = (...dims: number[]): OnnxGraphSpec => ({
      nodes: [],
      initializers: { s: HostTensor.from('int64', [dims.length], dims) },
      outputs: ['s'],
    });
    const run = await open({
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n', 2] }],
      nodes: [
        conditional('c', 's', [shape(2, -1), shape(1, -1, 1)]),
        node('Reshape', ['x', 's'], 'y'),
      ],
      outputs: ['y'],
    });
    const x = floats([2, 2], 5, 6, 7, 8);
    expect((await run(bool(true), x)).map(described)).toEqual(['(2, 2): 5 6 7 8']);
    expect((await run(bool(false), x)).map(described)).toEqual(['(1, 4, 1): 5 6 7 8']);
  });

  test('results of the model may be of several ranks, in a session too', async () => {
    const bytes = writeOnnxModel({
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n'] }],
      nodes: [conditional('c', 'y', [total, same]), node('Neg', ['y'], 'z')],
      outputs: ['z', 'x', 'y'],
    });
    const session = await Session.load(bytes, { device: 'host', worker: false });
    expect(session.outputs.map(({ name, dtype }) => [name, dtype])).toEqual([
      ['z', 'any'],
      ['x', 'float32'],
      ['y', 'any'],
    ]);
    for (const [flag, expected] of [
      [1, [-3, [1, 2], 3]],
      [
        0,
        [
          [-1, -2],
          [1, 2],
          [1, 2],
        ],
      ],
    ] as const) {
      const { z, x, y } = await session.run({
        c: Tensor.from(flag === 1),
        x: Tensor.from([1, 2]),
      });
      const nested = [z, x, y].map((value) => (value instanceof Tensor ? value.toNested() : value));
      expect(nested).toEqual(expected);
    }
    await session.dispose();
  });

  /** A sum that is a scalar or a vector by turns, behind each other. */
  function chain(length: number, condition: (i: number) => string): OnnxModelSpec {
    const flags = [...new Set(Array.from({ length }, (_, i) => condition(i)))];
    return {
      inputs: [{ name: 'x', shape: [1] }, ...flags.map((name) => scalarInput(name, 'bool'))],
      nodes: Array.from({ length }, (_, i) => [
        conditional(condition(i), `part${i}`, [same, total]),
        node('ReduceMax', [i === 0 ? 'x' : `sum${i - 1}`], `max${i}`, { keepdims: 0 }),
        node('Add', [`max${i}`, `part${i}`], `sum${i}`),
      ]).flat(),
      outputs: [`sum${length - 1}`],
    };
  }

  test('many after each other share what follows', async () => {
    const sizeOf = (length: number) =>
      compileOnnx(writeOnnxModel(chain(length, (i) => `c${i}`))).code.length;
    // Were the copies not shared, the second would have a thousand times the code.
    expect(sizeOf(20) / sizeOf(10)).toBeLessThan(2.2);
    const run = await open(chain(12, (i) => `c${i}`));
    const flags = Array.from({ length: 12 }, (_, i) => bool(i % 3 === 0));
    expect((await run(floats([1], 2), ...flags)).map(described)).toEqual(['(): 26']);
    const others = flags.with(11, bool(true));
    expect((await run(floats([1], 2), ...others)).map(described)).toEqual(['(1): 26']);
  });

  test('combinations of ranks that are alive at once have a limit', () => {
    const names = Array.from({ length: 6 }, (_, i) => `c${i}`);
    const model: OnnxModelSpec = {
      inputs: [{ name: 'x', shape: [2] }, ...names.map((name) => scalarInput(name, 'bool'))],
      nodes: [
        ...names.map((name, i) => conditional(name, `y${i}`, [same, total])),
        node(
          'Sum',
          names.map((_, i) => `y${i}`),
          'z',
        ),
      ],
      outputs: ['z'],
    };
    expect(() => compileOnnx(writeOnnxModel(model))).toThrow(
      new UnsupportedError(
        'node "y0" (If): got branches that differ in rank, in more than 32 combinations with those ' +
          'before, expected fewer, because the nodes after them are compiled for each. Export the model ' +
          'with conditions that are constant.',
      ),
    );
  });

  test('a condition that is known from an If before chooses its branch', async () => {
    const length = 40;
    const spec = chain(length, () => 'c');
    const outputs = Array.from({ length }, (_, i) => `part${i}`);
    const run = await open({ ...spec, outputs: ['sum39', ...outputs] });
    const ranks = async (flag: boolean) =>
      new Set((await run(floats([1], 2), bool(flag))).map(({ shape }) => shape.length));
    expect(await ranks(true)).toEqual(new Set([1]));
    expect(await ranks(false)).toEqual(new Set([0]));
  });

  test('functions, branches in branches, and loops behind them', async () => {
    const body: OnnxGraphSpec = {
      inputs: [scalarInput('i', 'int64'), scalarInput('go', 'bool'), { name: 'v', shape: [] }],
      nodes: [node('Add', ['v', 'y'], 'w')],
      outputs: ['go', 'w'],
    };
    const run = await open({
      inputs: [
        scalarInput('c', 'bool'),
        scalarInput('d', 'bool'),
        { name: 'x', shape: ['n'] },
        scalarInput('m', 'int64'),
      ],
      opsets: { my: 1 },
      functions: [
        {
          domain: 'my',
          name: 'Part',
          inputs: ['c', 'd', 'x'],
          outputs: ['p'],
          nodes: [
            conditional('c', 'p', [
              { nodes: [conditional('d', 'q', [same, total])], outputs: ['q'] },
              total,
            ]),
          ],
        },
      ],
      nodes: [
        { ...node('Part', ['c', 'd', 'x'], 'y'), domain: 'my' },
        node('Loop', ['m', '', 'y'], 'sum', { body: { graph: body } }),
        node('Mul', ['sum', 'x'], 'z'),
      ],
      outputs: ['z'],
    });
    const x = floats([2], 1, 2);
    const of = async (c: boolean, d: boolean) =>
      (await run(bool(c), bool(d), x, int64(2))).map(described)[0];
    expect(await of(true, true)).toBe('(2): 3 12');
    expect(await of(true, false)).toBe('(2): 9 18');
    expect(await of(false, true)).toBe('(2): 9 18');
  });

  test('a comparison of dimensions is made on the host', async () => {
    const spec: OnnxModelSpec = {
      inputs: [{ name: 'x', shape: ['n'] }],
      initializers: { two: HostTensor.from('int64', [1], [2]) },
      nodes: [
        node('Shape', ['x'], 's'),
        node('LessOrEqual', ['two', 's'], 'c'),
        node('If', ['c'], 'y', {
          then_branch: { graph: branch(node('Neg', ['x'], 'out')) },
          else_branch: { graph: branch(node('Identity', ['x'], 'out')) },
        }),
      ],
      outputs: ['y'],
    };
    expect(compileOnnx(writeOnnxModel(spec)).primitives.map(({ name }) => name)).toEqual(['neg']);
    const run = await open(spec);
    expect((await run(floats([2], 1, 2))).map(described)).toEqual(['(2): -1 -2']);
    expect((await run(floats([1], 1))).map(described)).toEqual(['(1): 1']);
  });

  test('unknown operators in both branches and around them are listed together', () => {
    const unknown: OnnxModelSpec = {
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: [1] }],
      nodes: [
        node('If', ['c'], 'y', {
          then_branch: { graph: branch(node('Foo', ['x'], 'out')) },
          else_branch: { graph: branch(node('Bar', ['x'], 'out')) },
        }),
        node('Baz', ['y'], 'z'),
      ],
      outputs: ['z'],
    };
    expect(() => compileOnnx(writeOnnxModel(unknown))).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: ONNX model: got 3 nodes of unsupported operators (Bar, Baz, Foo), expected operators that Weft has:
        node "out" (Foo) of then_branch of node "y" (If)
        node "out" (Bar) of else_branch of node "y" (If)
        node "z" (Baz)]
    `);
  });
});

/** Doubles `v`, and gives the row of all values so far; goes on while `limit` is not reached. */
const doubling: OnnxGraphSpec = {
  inputs: [
    scalarInput('i', 'int64'),
    scalarInput('before', 'bool'),
    { name: 'v', shape: [] },
    { name: 'row', shape: ['k'] },
  ],
  initializers: { one: HostTensor.from('int64', [1], [1]) },
  nodes: [
    node('Add', ['v', 'v'], 'v2'),
    node('Reshape', ['v2', 'one'], 'v1'),
    node('Concat', ['row', 'v1'], 'longer', { axis: 0 }),
    node('Less', ['v2', 'limit'], 'after'),
    node('Cast', ['i'], 'f', { to: 1 }),
    node('Add', ['f', 'v'], 'sum'),
  ],
  outputs: ['after', 'v2', 'longer', 'sum'],
};

describe('Loop', () => {
  const spec = (trip: string, condition: string): OnnxModelSpec => ({
    inputs: [
      scalarInput('m', 'int64'),
      scalarInput('c', 'bool'),
      { name: 'first', shape: [] },
      { name: 'start', shape: ['s'] },
      { name: 'limit', shape: [] },
    ],
    nodes: [
      node('Loop', [trip, condition, 'first', 'start'], ['last', 'row', 'sums'], {
        body: { graph: doubling },
      }),
      node('Neg', ['row'], 'y'),
    ],
    outputs: ['last', 'y', 'sums'],
  });
  const values = (m: number, c: boolean, limit: number) => [
    int64(m),
    bool(c),
    floats([], 1),
    floats([1], 9),
    floats([], limit),
  ];

  test('ends by its count, by its condition, or before it begins', async () => {
    const run = await open(spec('m', 'c'));
    expect((await run(...values(3, true, 100))).map(described)).toEqual([
      '(): 8',
      '(4): -9 -2 -4 -8',
      '(3): 1 3 6',
    ]);
    expect((await run(...values(9, true, 5))).map(described)).toEqual([
      '(): 8',
      '(4): -9 -2 -4 -8',
      '(3): 1 3 6',
    ]);
    expect((await run(...values(0, true, 5))).map(described)).toEqual([
      '(): 1',
      '(1): -9',
      '(0): ',
    ]);
    expect((await run(...values(-3, true, 5))).map(described)[1]).toBe('(1): -9');
    expect((await run(...values(Number.MAX_SAFE_INTEGER, true, 5))).map(described)[1]).toBe(
      '(4): -9 -2 -4 -8',
    );
    expect((await run(...values(4, false, 5))).map(described)).toEqual([
      '(): 1',
      '(1): -9',
      '(0): ',
    ]);
  });

  test('without a count, without a condition', async () => {
    const whileLoop = await open(spec('', 'c'));
    expect((await whileLoop(...values(0, true, 30))).map(described)[0]).toBe('(): 32');
    const forLoop = await open(spec('m', ''));
    expect((await forLoop(...values(2, false, 99))).map(described)[1]).toBe('(3): -9 -2 -4');
  });

  test('collects the results of many iterations', async () => {
    const run = await open({
      inputs: [scalarInput('m', 'int64'), { name: 'x', shape: ['n'] }],
      nodes: [
        node('Loop', ['m', '', 'x'], ['last', 'all'], {
          body: {
            graph: {
              inputs: [
                scalarInput('i', 'int64'),
                scalarInput('c', 'bool'),
                { name: 'v', shape: ['n'] },
              ],
              initializers: { one: floats([], 1) },
              nodes: [node('Identity', ['c'], 'd'), node('Add', ['v', 'one'], 'w')],
              outputs: ['d', 'w', 'v'],
            },
          },
        }),
      ],
      outputs: ['last', 'all'],
    });
    for (const count of [1, 4, 5, 6, 7, 17, 300]) {
      const [last, all] = await run(int64(count), floats([2], 0, 10));
      expect(last && described(last)).toBe(`(2): ${count} ${count + 10}`);
      expect(all?.shape).toEqual([count, 2]);
      const expected = Array.from({ length: count }, (_, i) => [i, i + 10]).flat();
      expect(Array.from(all?.data ?? [], Number)).toEqual(expected);
    }
  });

  test('loops in loops with an If inside, which read values around all of them', async () => {
    const inner: OnnxGraphSpec = {
      inputs: [scalarInput('j', 'int64'), scalarInput('cj', 'bool'), { name: 'b', shape: [2] }],
      nodes: [
        node('Less', ['i', 'j'], 'less'),
        node('If', ['less'], 'step', {
          then_branch: { graph: { nodes: [], outputs: ['x'] } },
          else_branch: { graph: { nodes: [node('Neg', ['w'], 'nw')], outputs: ['nw'] } },
        }),
        node('Add', ['b', 'step'], 'b2'),
      ],
      outputs: ['cj', 'b2'],
    };
    const outer: OnnxGraphSpec = {
      inputs: [scalarInput('i', 'int64'), scalarInput('ci', 'bool'), { name: 'a', shape: [2] }],
      nodes: [node('Loop', ['m', '', 'a'], 'a2', { body: { graph: inner } })],
      outputs: ['ci', 'a2', 'a2'],
    };
    const run = await open({
      inputs: [scalarInput('m', 'int64'), { name: 'x', shape: [2] }],
      nodes: [
        node('Mul', ['x', 'x'], 'w'),
        node('Loop', ['m', '', 'x'], ['y', 'ys'], { body: { graph: outer } }),
      ],
      outputs: ['y', 'ys'],
    });
    // For 3: of 9 steps, those with i < j (3) add x, the other 6 subtract x * x.
    expect((await run(int64(3), floats([2], 1, 2))).map(described)).toEqual([
      '(2): -2 -16',
      '(3, 2): 2 2 1 -4 -2 -16',
    ]);
  });

  test('a short loop of constant length is written out', () => {
    const executable = compileOnnx(
      writeOnnxModel({
        inputs: [{ name: 'x', shape: ['n', 4] }],
        initializers: { m: int64(3) },
        nodes: [
          node('Loop', ['m', '', 'x'], ['last', 'all'], {
            body: {
              graph: {
                inputs: [
                  scalarInput('i', 'int64'),
                  scalarInput('c', 'bool'),
                  { name: 'v', shape: ['n', 4] },
                ],
                initializers: { t: HostTensor.from('bool', [], [1]) },
                nodes: [node('Concat', ['v', 'v'], 'w', { axis: 0 })],
                outputs: ['t', 'w', 'x'],
              },
            },
          }),
        ],
        outputs: ['last', 'all'],
      }),
    );
    expect(executable.functions[0]?.signature?.results.map(({ type }) => type)).toMatchObject([
      { shape: [{ op: 'mul' }, 4] },
      { shape: [3, 'n', 4] },
    ]);
  });

  const unfit = (
    inputs: readonly string[],
    outputTypes?: NonNullable<OnnxGraphSpec['outputTypes']>,
  ): OnnxModelSpec => ({
    inputs: [scalarInput('m', 'int64'), scalarInput('c', 'bool'), { name: 'x', shape: [4] }],
    initializers: { w: floats([3], 1, 2, 3) },
    nodes: [
      node('Loop', inputs, ['y', 'all'], {
        body: {
          graph: {
            inputs: [
              scalarInput('i', 'int64'),
              scalarInput('go', 'bool'),
              { name: 'v', shape: [4] },
            ],
            nodes: [node('Add', ['v', 'w'], 'next'), node('Abs', ['next'], 'part')],
            outputs: ['go', 'next', 'part'],
            ...(outputTypes === undefined ? {} : { outputTypes }),
          },
        },
      }),
    ],
    outputs: ['y', 'all'],
  });
  const UNFIT = 'node "next": add: got (4,) and (3,), expected shapes that broadcast';

  test('a body whose operands do not fit is a stop, where there may be no iteration', async () => {
    const typed = { part: { shape: ['k', 3] } };
    const run = await open(unfit(['m', 'c', 'x'], typed));
    const x = floats([4], 1, 2, 3, 4);
    const begin = ['(4): 1 2 3 4', '(0, 0, 3): '];
    expect((await run(int64(0), bool(true), x)).map(described)).toEqual(begin);
    expect((await run(int64(2), bool(false), x)).map(described)).toEqual(begin);
    await expect(run(int64(1), bool(true), x)).rejects.toThrow(UNFIT);
  });

  test.each([
    ['there is an iteration for sure', ['', '', 'x'], { part: { shape: [3] } }],
    ['nothing says what the body collects', ['m', 'c', 'x'], undefined],
  ] as const)('such a body is refused where %s', (_, inputs, outputTypes) => {
    expect(() => compileOnnx(writeOnnxModel(unfit(inputs, outputTypes)))).toThrow(UNFIT);
  });

  test('a rank that changes is refused', () => {
    const spec: OnnxModelSpec = {
      inputs: [scalarInput('m', 'int64'), { name: 'x', shape: ['n'] }],
      initializers: { axes: HostTensor.from('int64', [1], [0]) },
      nodes: [
        node('Loop', ['m', '', 'x'], 'y', {
          body: {
            graph: {
              inputs: [
                scalarInput('i', 'int64'),
                scalarInput('c', 'bool'),
                { name: 'v', shape: [] },
              ],
              nodes: [node('Unsqueeze', ['v', 'axes'], 'w')],
              outputs: ['c', 'w'],
            },
          },
        }),
      ],
      outputs: ['y'],
    };
    expect(() => compileOnnx(writeOnnxModel(spec))).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Loop): got value 0 of rank 1, and of rank 2 after an iteration, expected the same rank in all iterations.]`,
    );
  });
});

describe('Scan', () => {
  const body: OnnxGraphSpec = {
    inputs: [
      { name: 's', shape: [2] },
      { name: 'a', shape: [2] },
      { name: 'b', shape: [2] },
    ],
    nodes: [
      node('Add', ['s', 'a'], 't'),
      node('Mul', ['t', 'b'], 'p'),
      node('Add', ['p', 'offset'], 'q'),
    ],
    outputs: ['t', 'q', 't'],
  };
  const spec: OnnxModelSpec = {
    inputs: [
      { name: 'start', shape: [2] },
      { name: 'a', shape: ['length', 2] },
      { name: 'b', shape: [2, 'length'] },
      { name: 'offset', shape: [] },
    ],
    nodes: [
      node('Scan', ['start', 'a', 'b'], ['last', 'q', 'ts'], {
        num_scan_inputs: 2,
        scan_input_axes: [0, -1],
        scan_input_directions: [0, 1],
        scan_output_axes: [1, -2],
        scan_output_directions: [0, 1],
        body: { graph: body },
      }),
    ],
    outputs: ['last', 'q', 'ts'],
  };

  test('axes, directions, states, and values around it', async () => {
    const run = await open(spec);
    const start = floats([2], 1, 2);
    const a = floats([3, 2], 1, 2, 3, 4, 5, 6);
    const b = floats([2, 3], 1, 2, 3, 4, 5, 6);
    // t: (2 4) (5 8) (10 14); b from its end: (3 6) (2 5) (1 4)
    expect((await run(start, a, b, floats([], 100))).map(described)).toEqual([
      '(2): 10 14',
      '(2, 3): 106 110 110 124 140 156',
      '(3, 2): 10 14 5 8 2 4',
    ]);
    expect(
      (await run(start, floats([0, 2]), floats([2, 0]), floats([], 0))).map(described),
    ).toEqual(['(2): 1 2', '(2, 0): ', '(0, 2): ']);
  });

  test('of opset 8, sequences of their own lengths in a batch', async () => {
    const run = await open({
      opset: 8,
      inputs: [
        { name: 'start', shape: [2, 1] },
        { name: 'x', shape: [2, 'length', 1] },
      ],
      initializers: { lengths: HostTensor.from('int64', [2], [1, 3]) },
      nodes: [
        node('Scan', ['lengths', 'start', 'x'], ['last', 'sums'], {
          num_scan_inputs: 1,
          directions: [1],
          body: {
            graph: {
              inputs: [
                { name: 's', shape: [1] },
                { name: 'v', shape: [1] },
              ],
              nodes: [node('Add', ['s', 'v'], 't')],
              outputs: ['t', 't'],
            },
          },
        }),
      ],
      outputs: ['last', 'sums'],
    });
    const x = floats([2, 3, 1], 1, 2, 3, 4, 5, 6);
    expect((await run(floats([2, 1], 0, 10), x)).map(described)).toEqual([
      '(2, 1): 1 25',
      '(2, 3, 1): 1 0 0 16 21 25',
    ]);
  });
});

describe('sizes that only the running program knows', () => {
  const first = HostTensor.from('int64', [1], [0]);

  test('of a branch', async () => {
    const run = await open({
      inputs: [scalarInput('c', 'bool'), { name: 'x', shape: ['n'] }],
      initializers: { first },
      nodes: [
        node('If', ['c'], 'y', {
          then_branch: { graph: { nodes: [node('NonZero', ['x'], 'out')], outputs: ['out'] } },
          else_branch: {
            graph: {
              nodes: [node('Shape', ['x'], 's'), node('Unsqueeze', ['s', 'first'], 'out')],
              outputs: ['out'],
            },
          },
        }),
        node('Add', ['y', 'y'], 'z'),
      ],
      outputs: ['z'],
    });
    const x = floats([4], 0, 1, 0, 2);
    expect((await run(bool(true), x)).map(described)).toEqual(['(1, 2): 2 6']);
    expect((await run(bool(false), x)).map(described)).toEqual(['(1, 1): 8']);
  });

  test('of values that a loop carries, cuts and counts', async () => {
    const body: OnnxGraphSpec = {
      inputs: [
        scalarInput('i', 'int64'),
        scalarInput('c', 'bool'),
        scalarInput('a', 'int64'),
        { name: 'b', shape: [] },
      ],
      nodes: [
        node('Add', ['a', 'length'], 'a2'),
        node('Unsqueeze', ['i', 'first'], 'begin'),
        node('Slice', ['b', 'begin', 'end', 'first'], 'b2'),
        node('Shape', ['b2'], 'size'),
      ],
      outputs: ['c', 'a2', 'b2', 'size'],
    };
    const run = await open({
      inputs: [scalarInput('m', 'int64'), { name: 'x', shape: ['n', 3] }],
      initializers: { first, zero: int64(0), end: HostTensor.from('int64', [1], [99]) },
      nodes: [
        node('Shape', ['x'], 's'),
        node('Gather', ['s', 'zero'], 'length'),
        node('Loop', ['m', '', 'length', 'x'], ['k', 'v', 'sizes'], { body: { graph: body } }),
      ],
      outputs: ['k', 'v', 'sizes'],
    });
    const x = floats([4, 3], ...Array.from({ length: 12 }, (_, i) => i));
    expect((await run(int64(3), x)).map(described)).toEqual([
      '(): 16',
      '(1, 3): 9 10 11',
      '(3, 2): 4 3 3 3 1 3',
    ]);
  });

  test('of a tensor that a loop takes for its dimension alone', async () => {
    const body: OnnxGraphSpec = {
      inputs: [scalarInput('i', 'int64'), scalarInput('c', 'bool'), { name: 'v', shape: ['k'] }],
      nodes: [
        node('ConstantOfShape', ['s'], 'twos', { value: floats([1], 2) }),
        node('ReduceSum', ['twos'], 'sum', { keepdims: 0 }),
        node('Add', ['v', 'sum'], 'w'),
      ],
      outputs: ['c', 'w', 'twos'],
    };
    const run = await open({
      inputs: [scalarInput('m', 'int64'), { name: 'x', shape: ['n'] }, { name: 'q', shape: ['k'] }],
      nodes: [
        node('Shape', ['x'], 's'),
        node('Loop', ['m', '', 'q'], ['r', 'all'], { body: { graph: body } }),
      ],
      outputs: ['r', 'all'],
    });
    const results = await run(int64(2), floats([3], 1, 2, 3), floats([2], 0, 1));
    expect(results.map(described)).toEqual(['(2): 12 13', '(2, 3): 2 2 2 2 2 2']);
  });
});

test('loops and branches on WebGPU', async () => {
  const gpu = await createWebGpuDevice({ gpu: await sharedNodeGpu(), operators: CORE_OPERATORS });
  const run = await open(
    {
      inputs: [
        scalarInput('c', 'bool'),
        { name: 'first', shape: [] },
        { name: 'limit', shape: [] },
      ],
      initializers: { start: floats([1], 9) },
      nodes: [
        node('Loop', ['', 'c', 'first', 'start'], ['last', 'row', 'sums'], {
          body: { graph: doubling },
        }),
        node('Less', ['limit', 'last'], 'beyond'),
        node('If', ['beyond'], 'y', {
          then_branch: { graph: { nodes: [node('Neg', ['row'], 'out')], outputs: ['out'] } },
          else_branch: { graph: { nodes: [], outputs: ['sums'] } },
        }),
      ],
      outputs: ['y'],
    },
    gpu,
  );
  const one = floats([], 1);
  expect((await run(bool(true), one, floats([], 7))).map(described)).toEqual(['(4): -9 -2 -4 -8']);
  expect((await run(bool(true), one, floats([], 8))).map(described)).toEqual(['(3): 1 3 6']);
  expect((await run(bool(false), one, floats([], 0))).map(described)).toEqual(['(1): -9']);
  gpu.destroy();
});
