import { describe, expect, test } from 'vitest';
import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { Session, Tensor } from '../../client/index.ts';
import { importWithin } from './import-tfjs.ts';
import {
  attr,
  placeholder,
  runGraphModel,
  type WrittenNode,
  writeGraphModel,
} from './testing/graph-model-writer.ts';

const floats = (shape: readonly number[], values: readonly number[]) =>
  HostTensor.from('float32', [...shape], values);
const ints = (shape: readonly number[], values: readonly number[]) =>
  HostTensor.from('int32', [...shape], values);
const int = (name: string, ...values: readonly number[]) =>
  ({ name, shape: values.length === 1 ? [] : [values.length], dtype: 'int32', values }) as const;
const X = placeholder('x', [-1, 3]);

function refusal(json: unknown): Error {
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    new CompileBudget().run(() => importWithin(bytes, {}));
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was refused');
}

describe('weights', () => {
  test('are decoded from 8, 16 and half bits, over files that end anywhere', () => {
    const weights = [
      {
        name: 'a',
        shape: [3],
        values: [0, 100, 200],
        quantization: { dtype: 'uint8', scale: 0.5, min: -10 },
      },
      {
        name: 'b',
        shape: [3],
        values: [0, 1000, 65535],
        quantization: { dtype: 'uint16', scale: 2, min: 1 },
      },
      {
        name: 'c',
        shape: [3],
        values: [0x3c00, 0xc000, 0x3800],
        quantization: { dtype: 'float16' },
      },
      { name: 'd', shape: [3], values: [1, 2, 3] },
    ] as const;
    const nodes: WrittenNode[] = ['a', 'b', 'c', 'd'].map((name) => ({
      name: `y${name}`,
      op: 'AddV2',
      input: ['x', name],
    }));
    const outputs = { a: 'ya:0', b: 'yb', c: 'yc', d: 'yd:0' };
    const x = floats([1, 3], [0, 0, 0]);
    expect(runGraphModel({ nodes: [X, ...nodes], weights, outputs, shard: 7 }, [x])).toEqual([
      [[-10, 40, 90]],
      [[1, 2001, 131071]],
      [[1, -2, 0.5]],
      [[1, 2, 3]],
    ]);
  });

  test('come with the model that a session loads', async () => {
    const weights = [{ name: 'w', shape: [3], values: [1, 2, 3] }];
    const nodes: WrittenNode[] = [X, { name: 'y', op: 'Mul', input: ['x', 'w'] }];
    const { json, files } = writeGraphModel({
      nodes,
      weights,
      outputs: { scaled: 'y:0' },
      shard: 8,
    });
    const session = await Session.load(json.slice(), {
      device: 'host',
      worker: false,
      externalData: (path) => new Blob([files.get(path)?.slice() ?? '']),
    });
    const { scaled } = await session.run({ x: Tensor.from([[1, 1, 2]]) });
    expect(scaled?.toNested()).toEqual([[1, 2, 6]]);
    await session.dispose();
  });
});

describe('operators', () => {
  test('a convolution of pictures whose channels are last, with what is fused', () => {
    const convolution = {
      name: 'y',
      op: '_FusedConv2D',
      input: ['x', 'w', 'bias'],
      attr: {
        strides: attr.ints(1, 2, 2, 1),
        padding: attr.text('SAME'),
        fused_ops: attr.texts('BiasAdd', 'Relu6'),
        T: attr.type('DT_FLOAT'),
        num_args: attr.int(1),
      },
    };
    const weights = [
      { name: 'w', shape: [2, 2, 1, 2], values: [1, 0, 0, 1, 0, 1, 1, 0] },
      { name: 'bias', shape: [2], values: [0.5, -1] },
    ];
    const nodes = [placeholder('x', [1, 3, 3, 1]), convolution];
    const x = floats([1, 3, 3, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // At the right and at the bottom the window covers zeros.
    const expected = [
      [
        [
          [6, 5],
          [3.5, 5],
        ],
        [
          [6, 6],
          [6, 0],
        ],
      ],
    ];
    expect(runGraphModel({ nodes, weights, outputs: { y: 'y' } }, [x])).toEqual([expected]);
  });

  test('a strided slice with each of its masks', () => {
    const slice = {
      name: 'y',
      op: 'StridedSlice',
      input: ['x', 'begin', 'end', 'steps'],
      attr: {
        begin_mask: attr.int(1),
        end_mask: attr.int(8),
        ellipsis_mask: attr.int(2),
        new_axis_mask: attr.int(4),
        shrink_axis_mask: attr.int(16),
      },
    };
    const weights = [
      int('begin', 9, 0, 0, 1, -1),
      int('end', 1, 0, 0, 0, 0),
      int('steps', 1, 1, 1, 1, 1),
    ];
    const x = floats(
      [2, 2, 3, 2],
      Array.from({ length: 24 }, (_, i) => i),
    );
    const nodes = [placeholder('x', [2, 2, 3, 2]), slice];
    expect(runGraphModel({ nodes, weights, outputs: { y: 'y' } }, [x])).toEqual([
      [[[[3, 5]], [[9, 11]]]],
    ]);
  });

  test('sizes that the program computes', () => {
    const nodes: WrittenNode[] = [
      X,
      { name: 'shape', op: 'Shape', input: ['x'] },
      {
        name: 'rows',
        op: 'StridedSlice',
        input: ['shape', 'zero', 'one', 'one'],
        attr: { shrink_axis_mask: attr.int(1) },
      },
      {
        name: 'whole',
        op: 'Pack',
        input: ['rows', 'minus'],
        attr: { axis: attr.int(0), N: attr.int(2) },
      },
      { name: 'part', op: 'Slice', input: ['x', 'begin', 'whole'] },
    ];
    const vector = (name: string, value: number) =>
      ({ name, shape: [1], dtype: 'int32', values: [value] }) as const;
    const weights = [vector('zero', 0), vector('one', 1), int('minus', -1), int('begin', 0, 1)];
    const x = floats([2, 3], [1, 2, 3, 4, 5, 6]);
    expect(runGraphModel({ nodes, weights, outputs: { y: 'part' } }, [x])).toEqual([
      [
        [2, 3],
        [5, 6],
      ],
    ]);
  });
});

describe('control flow', () => {
  test('a loop of Enter, Merge, Switch and NextIteration, with a list', () => {
    const frame = { frame_name: attr.text('loop') };
    const nodes: WrittenNode[] = [
      placeholder('n', [], 'DT_INT32'),
      {
        name: 'list',
        op: 'TensorListReserve',
        input: ['unknown', 'three'],
        attr: { element_dtype: attr.type('DT_INT32') },
      },
      { name: 'enterI', op: 'Enter', input: ['zero'], attr: frame },
      { name: 'enterList', op: 'Enter', input: ['list'], attr: frame },
      {
        name: 'enterN',
        op: 'Enter',
        input: ['n'],
        attr: { ...frame, is_constant: attr.flag(true) },
      },
      { name: 'i', op: 'Merge', input: ['enterI', 'nextI'] },
      { name: 'items', op: 'Merge', input: ['enterList', 'nextList'] },
      { name: 'less', op: 'Less', input: ['i', 'three'] },
      { name: 'going', op: 'LoopCond', input: ['less'] },
      { name: 'switchI', op: 'Switch', input: ['i', 'going'] },
      { name: 'switchList', op: 'Switch', input: ['items', 'going'] },
      { name: 'product', op: 'Mul', input: ['switchI:1', 'enterN'] },
      { name: 'set', op: 'TensorListSetItem', input: ['switchList:1', 'switchI:1', 'product'] },
      { name: 'plus', op: 'AddV2', input: ['switchI:1', 'one', '^set'] },
      { name: 'nextI', op: 'NextIteration', input: ['plus'] },
      { name: 'nextList', op: 'NextIteration', input: ['set'] },
      { name: 'exit', op: 'Exit', input: ['switchList'] },
      {
        name: 'all',
        op: 'TensorListStack',
        input: ['exit', 'scalar'],
        attr: { element_dtype: attr.type('DT_INT32') },
      },
    ];
    const weights = [
      int('zero', 0),
      int('one', 1),
      int('three', 3),
      int('unknown', -1),
      { name: 'scalar', shape: [0], dtype: 'int32', values: [] } as const,
    ];
    expect(runGraphModel({ nodes, weights, outputs: { all: 'all' } }, [ints([], [5])])).toEqual([
      [0, 5, 10],
    ]);
  });

  test('branches of Switch and Merge', () => {
    const nodes: WrittenNode[] = [
      X,
      placeholder('flag', [], 'DT_BOOL'),
      { name: 'switch', op: 'Switch', input: ['x', 'flag'] },
      { name: 'neg', op: 'Neg', input: ['switch'] },
      { name: 'exp', op: 'Square', input: ['switch:1'] },
      { name: 'y', op: 'Merge', input: ['neg', 'exp'] },
    ];
    const model = { nodes, outputs: { y: 'y' } };
    const x = floats([1, 3], [1, 2, 3]);
    const flag = (value: number) => HostTensor.from('bool', [], [value]);
    expect(runGraphModel(model, [x, flag(0)])).toEqual([[[-1, -2, -3]]]);
    expect(runGraphModel(model, [x, flag(1)])).toEqual([[[1, 4, 9]]]);
  });

  test('functions of If and While', () => {
    const fn = (
      name: string,
      args: readonly string[],
      nodeDef: readonly WrittenNode[],
      result: string,
    ) => ({
      signature: {
        name,
        inputArg: args.map((arg) => ({ name: arg })),
        outputArg: [{ name: 'out' }],
      },
      nodeDef,
      ret: { out: result },
    });
    const functions = [
      fn(
        'goes',
        ['v'],
        [
          { name: 'less', op: 'Less', input: ['v', 'limit:output:0'] },
          { name: 'limit', op: 'Const' },
        ],
        'less:z:0',
      ),
      fn('doubles', ['v'], [{ name: 'sum', op: 'AddV2', input: ['v', 'v'] }], 'sum:z:0'),
      fn('same', ['v'], [{ name: 'id', op: 'Identity', input: ['v'] }], 'id:output:0'),
    ];
    const nodes: WrittenNode[] = [
      placeholder('x', []),
      placeholder('flag', [], 'DT_BOOL'),
      {
        name: 'loop',
        op: 'StatelessWhile',
        input: ['x'],
        attr: { cond: attr.fn('goes'), body: attr.fn('doubles') },
      },
      {
        name: 'y',
        op: 'StatelessIf',
        input: ['flag', 'loop'],
        attr: { then_branch: attr.fn('same'), else_branch: attr.fn('doubles') },
      },
    ];
    const weights = [{ name: 'limit', shape: [], values: [100] }];
    const model = { nodes, weights, functions, outputs: { y: 'y' } };
    const flag = (value: number) => HostTensor.from('bool', [], [value]);
    expect(runGraphModel(model, [floats([], [3]), flag(1)])).toEqual([192]);
    expect(runGraphModel(model, [floats([], [3]), flag(0)])).toEqual([384]);
  });
});

describe('what is refused', () => {
  test('all nodes of unknown operators at once, by name', () => {
    const node = [
      { name: 'table', op: 'HashTableV2' },
      { name: 'found', op: 'LookupTableFindV2', input: ['table', 'x'] },
      { name: 'x', op: 'Placeholder' },
    ];
    expect(
      refusal({ format: 'graph-model', modelTopology: { node }, weightsManifest: [] }).message,
    ).toMatchInlineSnapshot(`
      "TensorFlow.js model: got 2 nodes of unsupported operators (HashTableV2, LookupTableFindV2), expected operators that Weft has:
        node "table" (HashTableV2)
        node "found" (LookupTableFindV2)"
    `);
  });

  test('models of layers, and weights beside the folder', () => {
    const layers = { format: 'layers-model', modelTopology: {}, weightsManifest: [] };
    expect(refusal(layers).message).toMatchInlineSnapshot(
      `"TensorFlow.js model: got a layers model, expected a graph model. tensorflowjs_converter --input_format=tfjs_layers_model --output_format=tfjs_graph_model makes one of it."`,
    );
    const weightsManifest = [{ paths: ['../secret.bin'], weights: [] }];
    const outside = { format: 'graph-model', modelTopology: { node: [] }, weightsManifest };
    expect(refusal(outside).message).toMatchInlineSnapshot(
      `"TensorFlow.js model: got weights in "../secret.bin", expected a file in the folder of the model, without ".."."`,
    );
  });

  test('files that are too short', () => {
    const weights = [{ name: 'w', shape: [3], values: [1, 2, 3] }];
    const nodes = [X, { name: 'y', op: 'Mul', input: ['x', 'w'] }];
    const { json } = writeGraphModel({ nodes, weights, outputs: { y: 'y' } });
    const read = () => new Uint8Array(4);
    expect(() => new CompileBudget().run(() => importWithin(json, { externalData: read }))).toThrow(
      'group1-shard1of1.bin: got 4 bytes, expected 12 for 1 weights.',
    );
  });
});
