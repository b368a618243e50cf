import { describe, expect, test } from 'vitest';
import { printModule } from '../../compiler/ir/print.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import {
  type OnnxModelSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { importOnnx, type ImportOptions } from './import-onnx.ts';

function importText(spec: OnnxModelSpec, options?: ImportOptions): string {
  return printModule(importOnnx(writeOnnxModel(spec), options));
}

const X = { name: 'x', shape: [1, 3, 4, 4] };
const relu = (input: string, output: string, name?: string): OnnxNodeSpec => ({
  op: 'Relu',
  inputs: [input],
  outputs: [output],
  ...(name === undefined ? {} : { name }),
});

describe('graphs', () => {
  test('nodes may stand in any order, and dead ones vanish', () => {
    const nodes = [relu('b', 'y'), relu('x', 'dead'), relu('a', 'b'), relu('x', 'a')];
    expect(importText({ inputs: [X], nodes, outputs: ['y'] })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32], results=["y"]) {
        %0 = relu(%x);
        %1 = relu(%0);
        relu(%1)
      }
      "
    `);
  });

  test('several outputs are a tuple, one of them an input', () => {
    const nodes = [relu('x', 'y')];
    expect(importText({ inputs: [X], nodes, outputs: ['y', 'x'] })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(1, 3, 4, 4), float32], results=["y","x"]) {
        %0 = relu(%x);
        (%0, %x)
      }
      "
    `);
  });

  test('an initializer that is also an input is a constant', () => {
    const initializers = { w: HostTensor.from('float32', [2], [1, 2]) };
    const inputs = [
      { name: 'w', shape: [2] },
      { name: 'x', shape: [2] },
    ];
    const nodes = [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }];
    expect(importText({ inputs, initializers, nodes, outputs: ['y'] })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2,), float32], results=["y"]) {
        add(%x, [1f, 2f])
      }
      "
    `);
  });

  test('a chain of 10,000 nodes', () => {
    const nodes = Array.from({ length: 10_000 }, (_, i) => relu(`v${i}`, `v${i + 1}`));
    const inputs = [{ name: 'v0', shape: [1] }];
    const text = importText({ inputs, nodes: nodes.reverse(), outputs: ['v10000'] });
    expect(text.split('\n')).toHaveLength(10_003);
  });

  test('shape arithmetic leaves no trace', () => {
    const text = importText(
      {
        inputs: [{ name: 'x', shape: ['batch', 3, 4] }],
        initializers: {
          zero: HostTensor.from('int64', [], [0]),
          axes: HostTensor.from('int64', [1], [0]),
          rest: HostTensor.from('int64', [1], [-1]),
        },
        nodes: [
          { op: 'Shape', inputs: ['x'], outputs: ['s'] },
          { op: 'Gather', inputs: ['s', 'zero'], outputs: ['n'] },
          { op: 'Unsqueeze', inputs: ['n', 'axes'], outputs: ['n1'] },
          { op: 'Concat', inputs: ['n1', 'rest'], outputs: ['t'], attributes: { axis: 0 } },
          { op: 'Reshape', inputs: ['x', 't'], outputs: ['y'] },
        ],
        outputs: ['y'],
      },
      { dims: { batch: 5 } },
    );
    expect(text).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(5, 3, 4), float32], results=["y"]) {
        reshape(%x, shape=[5, 12])
      }
      "
    `);
  });
});

describe('models that are refused', () => {
  const failure = (spec: OnnxModelSpec, options?: ImportOptions) => () => importText(spec, options);

  test('every unsupported node is listed by name and operator', () => {
    const nodes = [
      { op: 'NonZero', inputs: ['x'], outputs: ['a'], name: 'first' },
      relu('a', 'b'),
      { op: 'Fancy', domain: 'com.example', inputs: ['b'], outputs: ['c'] },
      { op: 'NonZero', inputs: ['c'], outputs: ['y'] },
    ];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: ONNX model: got 3 nodes of unsupported operators (NonZero, com.example.Fancy), expected operators that Weft has:
        node "first" (NonZero)
        node "c" (com.example.Fancy)
        node "y" (NonZero)]
    `);
  });

  test('all limits of known operators are listed in one error', () => {
    const nodes = [
      { op: 'Pad', inputs: ['x', 'p'], outputs: ['a'], attributes: { mode: 'wrap' }, name: 'pad' },
      { op: 'Relu', inputs: ['x'], outputs: ['b'], attributes: { axis: 1 }, name: 'odd' },
      { op: 'Add', inputs: ['a', 'b'], outputs: ['y'] },
    ];
    const initializers = { p: HostTensor.from('int64', [8], new Array<number>(8).fill(0)) };
    expect(
      failure({ inputs: [X], nodes, initializers, outputs: ['y'], opset: 19 }),
    ).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: 2 nodes of the model are not supported:
        node "pad" (Pad): got mode wrap, expected constant, reflect or edge.
        node "odd" (Relu): got attribute axis, expected attributes that the importer knows for this operator and opset.]
    `);
  });

  test('a dtype that an operator does not have', () => {
    const inputs = [{ name: 'x', dtype: 'float64' as const, shape: [2] }];
    expect(
      failure({ inputs, nodes: [relu('x', 'y', 'act')], outputs: ['y'] }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "act" (Relu): got float64 (2,) as x of relu, expected float32, int32.]`,
    );
  });

  test('shapes that are computed at run time', () => {
    const inputs = [X, { name: 's', dtype: 'int64' as const, shape: [2] }];
    const nodes = [{ op: 'Reshape', inputs: ['x', 's'], outputs: ['y'] }];
    expect(failure({ inputs, nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Reshape): got shapes that are computed while the model runs, expected constants.]`,
    );
  });

  test('a symbolic dimension where a number is needed', () => {
    const weights = HostTensor.zeros('float32', [1, 1, 3, 3]);
    const conv = { op: 'Conv', inputs: ['x', 'w'], outputs: ['y'] };
    const spec = {
      inputs: [{ name: 'x', shape: [1, 1, 'height', 8] }],
      initializers: { w: weights },
      nodes: [{ ...conv, attributes: { auto_pad: 'SAME_UPPER', strides: [2, 2] } }],
      outputs: ['y'],
    };
    expect(failure(spec)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Conv): got height as the size of an axis that is padded automatically, expected a number at compile time. Bind it: --dim height=1, or dims: { "height": 1 }.]`,
    );
    expect(
      importText({ ...spec, nodes: [{ ...conv, attributes: { auto_pad: 'SAME_UPPER' } }] }),
    ).toMatch('pads=[1, 1, 1, 1]');
  });

  test('a dimension as data', () => {
    const inputs = [{ name: 'x', shape: ['n', 3] }];
    const shape = { op: 'Shape', inputs: ['x'], outputs: ['s'] };
    expect(failure({ inputs, nodes: [shape], outputs: ['s'] })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: output "s": got dimensions that are known only when the model runs, expected tensors that it computes. Bind the dimensions of the inputs: --dim NAME=SIZE, or dims: { NAME: SIZE }.]`,
    );
    const nodes = [
      shape,
      { op: 'Cast', inputs: ['s'], outputs: ['f'], attributes: { to: 1 } },
      { op: 'ReduceSum', inputs: ['f'], outputs: ['y'] },
    ];
    expect(failure({ inputs, nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (ReduceSum): got the dimension n as an operand of reduce_sum, expected dimensions in shapes, and integer arithmetic on them, only. Bind the dimensions of the inputs: --dim NAME=SIZE, or dims: { NAME: SIZE }.]`,
    );
  });

  test('shapes that do not fit name the node', () => {
    const inputs = [X, { name: 'z', shape: [5] }];
    const nodes = [{ op: 'Add', inputs: ['x', 'z'], outputs: ['y'], name: 'sum' }];
    expect(failure({ inputs, nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: node "sum": add: got (1, 3, 4, 4) and (5,), expected shapes that broadcast (dimension -1 is 4 and 5). Dimensions must be equal or 1, aligned from the right.]`,
    );
  });

  test('a circle', () => {
    const nodes = [relu('b', 'a', 'one'), relu('a', 'b', 'two')];
    expect(failure({ inputs: [X], nodes, outputs: ['b'] })).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: node "two" (Relu): got a node that depends on its own output, expected a graph without circles.]`,
    );
  });

  test('a constant that a later constant replaces', () => {
    const constantOf = (value: number): OnnxNodeSpec => ({
      op: 'Constant',
      inputs: [],
      outputs: ['c'],
      attributes: { value: HostTensor.from('float32', [], [value]) },
    });
    const nodes = [constantOf(1), { op: 'Add', inputs: ['x', 'c'], outputs: ['y'] }, constantOf(2)];
    const module = importOnnx(writeOnnxModel({ inputs: [X], nodes, outputs: ['y'] }));
    expect(printModule(module)).toContain('add(%x, 2f)');
  });

  test('a value that is defined twice', () => {
    const nodes = [relu('x', 'y', 'one'), relu('x', 'y', 'two')];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: node "two" (Relu): got output "y", a name that is taken, expected every value to be defined once.]`,
    );
  });

  test('a value that nothing defines', () => {
    expect(
      failure({ inputs: [X], nodes: [relu('z', 'y', 'act')], outputs: ['y'] }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: node "act" (Relu): got input "z", which nothing defines, expected an input of the graph, an initializer or the output of a node.]`,
    );
    expect(failure({ inputs: [X], nodes: [], outputs: ['y'] })).toThrow(
      'output "y": got a name that nothing defines',
    );
  });

  test('an optional output that somebody reads', () => {
    const nodes = [
      { op: 'Dropout', inputs: ['x'], outputs: ['a', 'mask'] },
      { op: 'Not', inputs: ['mask'], outputs: ['y'] },
    ];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Not): got input "mask", an optional output that its node does not give here, expected main outputs only.]`,
    );
  });

  test('an operator set of the future', () => {
    expect(failure({ inputs: [X], nodes: [], outputs: ['x'], opset: 99 })).toThrow(
      'ONNX model: got operator set 99, expected 1 to 28. Convert the model to an older operator set.',
    );
  });
});
