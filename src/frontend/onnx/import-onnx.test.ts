import { describe, expect, test } from 'vitest';
import { printModule } from '../../compiler/ir/text/print.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  type OnnxModelSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';
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

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'names that every object has are names like others: %s',
    (name) => {
      const spec: OnnxModelSpec = {
        inputs: [{ name, shape: [name, 2] }],
        nodes: [
          { op: 'Concat', inputs: [name, name], outputs: ['twice'], attributes: { axis: 0 } },
          relu('twice', `${name}.y`, name),
        ],
        outputs: [`${name}.y`],
      };
      expect(importText(spec)).toContain(`(%${name}: Tensor[(${name}, 2), float32]`);
      const dims = Object.fromEntries([[name, 3]]);
      expect(importText(spec, { dims })).toContain('Tensor[(3, 2), float32]');
      const [main] = compileOnnx(writeOnnxModel(spec)).functions;
      expect(main?.signature?.results).toMatchObject([
        { name: `${name}.y`, type: { shape: [{ op: 'mul', left: name, right: 2 }, 2] } },
      ]);
      const intervals = Object.fromEntries([[name, { 0: [[1, 2] as const, [2, 9] as const] }]]);
      const dispatched = compileOnnx(writeOnnxModel(spec), { dispatch: { main: intervals } });
      expect(dispatched.functions).toHaveLength(3);
    },
  );
});

describe('models that are refused', () => {
  const failure = (spec: OnnxModelSpec, options?: ImportOptions) => () => importText(spec, options);

  test('sizes of dimensions that no input has', () => {
    const named = { name: 'x', shape: ['batch', 3] };
    const spec = { inputs: [named], nodes: [relu('x', 'y')], outputs: ['y'] };
    expect(failure(spec, { dims: { bacth: 1, batch: 2 } })).toThrow(
      'dims: got "bacth", expected names among "batch".',
    );
    const fixed = { inputs: [X], nodes: [relu('x', 'y')], outputs: ['y'] };
    expect(failure(fixed, { dims: { size0: 1 } })).toThrow(
      'dims: got "size0", expected nothing, because all sizes are fixed.',
    );
  });

  test('every unsupported node is listed by name and operator', () => {
    const nodes = [
      { op: 'StringSplit', inputs: ['x'], outputs: ['a'], name: 'first' },
      relu('a', 'b'),
      { op: 'Fancy', domain: 'com.example', inputs: ['b'], outputs: ['c'] },
      { op: 'StringSplit', inputs: ['c'], outputs: ['y'] },
    ];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: ONNX model: got 3 nodes of unsupported operators (StringSplit, com.example.Fancy), expected operators that Weft has:
        node "first" (StringSplit)
        node "c" (com.example.Fancy)
        node "y" (StringSplit)]
    `);
  });

  test('all limits of known operators are listed in one error', () => {
    const nodes = [
      { op: 'Not', inputs: ['x'], outputs: ['a'], name: 'not' },
      { op: 'Relu', inputs: ['x'], outputs: ['b'], attributes: { axis: 1 }, name: 'odd' },
      { op: 'Add', inputs: ['a', 'b'], outputs: ['y'] },
    ];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: 2 nodes of the model are not supported:
        node "not" (Not): got float32 (1, 3, 4, 4) as x of logical_not, expected bool.
        node "odd" (Relu): got attribute axis, expected attributes that the importer knows for this operator and opset.]
    `);
  });

  test('a shape of unknown length', () => {
    const inputs = [X, { name: 's', dtype: 'int64' as const, shape: ['rank'] }];
    const nodes = [{ op: 'Reshape', inputs: ['x', 's'], outputs: ['y'] }];
    expect(failure({ inputs, nodes, outputs: ['y'] })).toThrow(
      'expected a list of known length, because the rank of tensors must be known',
    );
  });

  test('a symbolic dimension where a number is needed', () => {
    const body = {
      inputs: [
        { name: 's', shape: [1] },
        { name: 'v', shape: [1] },
      ],
      nodes: [{ op: 'Add', inputs: ['s', 'v'], outputs: ['t'] }],
      outputs: ['t'],
    };
    const attributes = { num_scan_inputs: 1, body: { graph: body } };
    const nodes = [{ op: 'Scan', inputs: ['', 'x', 'z'], outputs: ['y'], attributes }];
    const inputs = [
      { name: 'x', shape: ['batch', 1] },
      { name: 'z', shape: ['batch', 2, 1] },
    ];
    expect(failure({ inputs, nodes, outputs: ['y'], opset: 8 })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Scan): got batch as the batch of a Scan of opset 8, expected a number at compile time. Bind it: --dim batch=1, or dims: { "batch": 1 }.]`,
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
      `[FormatError: node "two" (Relu): got a node that depends on its own output through node "one" (Relu), expected a graph without cycles.]`,
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
      { op: 'Relu', inputs: ['x'], outputs: ['a', 'more'] },
      { op: 'Neg', inputs: ['more'], outputs: ['y'] },
    ];
    expect(failure({ inputs: [X], nodes, outputs: ['y'] })).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "y" (Neg): got input "more", an optional output that its node does not give here, expected main outputs only.]`,
    );
  });

  test('an operator set of the future', () => {
    expect(failure({ inputs: [X], nodes: [], outputs: ['x'], opset: 99 })).toThrow(
      'ONNX model: got operator set 99, expected 1 to 28. Convert the model to an older operator set.',
    );
  });
});
