import { describe, expect, test } from 'vitest';
import { printModule } from '../../compiler/ir/text/print.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  type OnnxFunctionSpec,
  type OnnxModelSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { loadExternalData } from './model/external-data.ts';
import { importOnnx } from './import-onnx.ts';

const text = (spec: OnnxModelSpec) => printModule(importOnnx(writeOnnxModel(spec)));
const refused = (spec: OnnxModelSpec) => () => text(spec);
const X = { name: 'x', shape: [2, 3] };

const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: OnnxNodeSpec['attributes'] = {},
): OnnxNodeSpec => {
  const [domain, name] = op.split(':');
  return name === undefined
    ? { op, inputs, outputs, attributes }
    : { op: name, domain: domain ?? '', inputs, outputs, attributes };
};

describe('functions of a model', () => {
  const scaled: OnnxFunctionSpec = {
    domain: 'my',
    name: 'Scaled',
    inputs: ['a', 'b'],
    outputs: ['sum', 'rest'],
    attributes: ['axes'],
    defaults: { keep: 0 },
    opset: 13,
    nodes: [
      node('ReduceSum', ['a', 'axes0'], ['t'], { keepdims: { reference: 'keep', type: 2 } }),
      node('Constant', [], ['axes0'], { value_ints: { reference: 'axes', type: 7 } }),
      node('Clip', ['t', '', 'b'], ['sum']),
      node('Neg', ['a'], ['rest']),
    ],
  };

  test('are put in the place of their calls, with attributes and absent inputs', () => {
    const spec: OnnxModelSpec = {
      inputs: [X],
      functions: [scaled],
      initializers: { most: HostTensor.from('float32', [], [5]) },
      opsets: { my: 1 },
      nodes: [
        node('my:Scaled', ['x'], ['s'], { axes: [1] }),
        node('my:Scaled', ['x', 'most'], ['k', 'n'], { axes: [1], keep: 1 }),
      ],
      outputs: ['s', 'k', 'n'],
    };
    expect(text(spec)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2, 3), float32], results=["s","k","n"]) {
        %0 = reduce_sum(%x, axes=[1], keepdims=false);
        %1 = reduce_sum(%x, axes=[1], keepdims=true);
        %2 = minimum(%1, 5f);
        %3 = neg(%x);
        (%0, %2, %3)
      }
      "
    `);
  });

  test('call each other, each with its own operator sets', () => {
    const functions: OnnxFunctionSpec[] = [
      {
        domain: 'my',
        name: 'Outer',
        inputs: ['v'],
        outputs: ['w'],
        opset: 17,
        opsets: { my: 1 },
        nodes: [node('my:Inner', ['v'], ['u']), node('my:Inner', ['u'], ['w'])],
      },
      {
        domain: 'my',
        name: 'Inner',
        inputs: ['v'],
        outputs: ['w'],
        // Softmax of opset 11 flattens.
        opset: 11,
        nodes: [node('Softmax', ['v'], ['w'], { axis: 0 })],
      },
    ];
    const outer = node('my:Outer', ['x'], ['y']);
    expect(text({ inputs: [X], functions, nodes: [outer], outputs: ['y'] })).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2, 3), float32], results=["y"]) {
        %0 = reshape(%x, shape=[1, 6]);
        %1 = softmax(%0, axis=1);
        %2 = reshape(%1, shape=[2, 3]);
        %3 = reshape(%2, shape=[1, 6]);
        %4 = softmax(%3, axis=1);
        reshape(%4, shape=[2, 3])
      }
      "
    `);
  });

  test('inside a branch', () => {
    const fn: OnnxFunctionSpec = {
      domain: 'my',
      name: 'Choice',
      inputs: ['c', 'v'],
      outputs: ['w'],
      attributes: ['alpha'],
      nodes: [
        node('If', ['c'], ['w'], {
          then_branch: {
            graph: {
              nodes: [node('Elu', ['v'], ['o'], { alpha: { reference: 'alpha', type: 1 } })],
              outputs: ['o'],
            },
          },
          else_branch: { graph: { nodes: [node('Neg', ['v'], ['o'])], outputs: ['o'] } },
        }),
      ],
    };
    const spec: OnnxModelSpec = {
      inputs: [{ name: 'c', dtype: 'bool', shape: [] }, X],
      functions: [fn],
      nodes: [node('my:Choice', ['c', 'x'], ['y'], { alpha: { float: 3 } })],
      outputs: ['y'],
    };
    expect(text(spec)).toContain('3f);');
  });

  test('that call themselves are refused', () => {
    const calls = (name: string, other: string): OnnxFunctionSpec => ({
      domain: 'my',
      name,
      inputs: ['v'],
      outputs: ['w'],
      nodes: [node(`my:${other}`, ['v'], ['w'])],
    });
    const functions = [calls('A', 'B'), calls('B', 'A')];
    expect(
      refused({ inputs: [X], functions, nodes: [node('my:A', ['x'], ['y'])], outputs: ['y'] }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: node "w" (my.A) of function my.B of node "w" (my.B) of function my.A of node "y" (my.A): got functions that call themselves: function my.A, function my.B, function my.A, expected functions without recursion.]`,
    );
  });

  test('with unknown operators are refused by the place', () => {
    const fn = {
      domain: 'my',
      name: 'F',
      inputs: ['v'],
      outputs: ['w'],
      nodes: [node('Foo', ['v'], ['w'])],
    };
    const nodes = [node('my:F', ['x'], ['y'])];
    expect(
      refused({ inputs: [X], functions: [fn], nodes, outputs: ['y'] }),
    ).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: ONNX model: got 1 node of an unsupported operator (Foo), expected operators that Weft has:
        node "w" (Foo) of function my.F of node "y" (my.F)]
    `);
    expect(refused({ inputs: [X], functions: [fn, fn], nodes, outputs: ['y'] })).toThrow(
      'function my.F: got two functions of that name, expected each name once in a domain.',
    );
    const more = [node('my:F', ['x', 'x'], ['y'])];
    expect(refused({ inputs: [X], functions: [fn], nodes: more, outputs: ['y'] })).toThrow(
      'got 2 inputs and 1 outputs, expected at most 1 and 1 for function my.F',
    );
  });
});

describe('constants', () => {
  const sparse = {
    values: HostTensor.from('float32', [2], [5, 7]),
    indices: HostTensor.from('int64', [2, 2], [0, 1, 1, 0]),
    shape: [2, 2],
  };

  test('in all forms', () => {
    const forms: Readonly<Record<string, OnnxNodeSpec['attributes']>> = {
      a: { value: HostTensor.from('int32', [1], [1]) },
      b: { value_float: { float: 0.5 } },
      c: { value_floats: { floats: [1, 2] } },
      d: { value_int: 3 },
      e: { value_ints: [4, 5] },
      f: { sparse_value: { sparse } },
    };
    const nodes = Object.entries(forms).map(([name, form]) => node('Constant', [], [name], form));
    expect(text({ nodes, outputs: Object.keys(forms) })).toContain(
      '([1], 0.5f, [1f, 2f], 3i64, [4i64, 5i64], meta[0])',
    );
  });

  test('of strings are refused', () => {
    const nodes = [node('Constant', [], ['y'], { value_string: 'text' })];
    expect(refused({ nodes, outputs: ['y'] })).toThrow(
      'node "y" (Constant): got a constant of another kind, expected a tensor of numbers.',
    );
  });

  test('sparse initializers, by coordinates or places', () => {
    const linear = { ...sparse, indices: HostTensor.from('int64', [2], [3, 0]) };
    const module = importOnnx(
      writeOnnxModel({
        nodes: [],
        sparseInitializers: { a: sparse, b: linear },
        outputs: ['a', 'b'],
      }),
    );
    const body = module.functions.get('main')?.body;
    const fields = body?.kind === 'tuple' ? body.fields : [];
    const data = fields.map((field) => (field.kind === 'constant' ? [...field.value.data] : []));
    expect(data).toEqual([
      [0, 5, 7, 0],
      [7, 0, 0, 5],
    ]);
  });

  test.each([
    [[2], [4, 0], 'index 4, expected below 4'],
    [[2, 2], [0, 2, 0, 0], 'index 2 on axis 1, expected below 2'],
    [[1], [0], '1 indices for (2,) values, expected one for each'],
    [[2, 1], [0, 1], 'indices of int64 (2, 1), expected int64 (n,) or (n, 2)'],
  ])('indices %j %j are refused', (shape, values, message) => {
    const indices = HostTensor.from('int64', shape, values);
    const sparseInitializers = { w: { ...sparse, indices } };
    expect(refused({ nodes: [], sparseInitializers, outputs: ['w'] })).toThrow(message);
  });

  test('a sparse tensor of absurd size is refused before it is made', () => {
    const sparseInitializers = { w: { ...sparse, shape: [2 ** 26, 2 ** 26] } };
    expect(refused({ nodes: [], sparseInitializers, outputs: ['w'] })).toThrow(
      'expected at most 2 GiB with its zeros',
    );
  });
});

describe('graphs of unusual form', () => {
  test('outputs that are inputs, initializers, or one value twice; inputs that nothing reads', () => {
    const spec: OnnxModelSpec = {
      inputs: [X, { name: 'unused', shape: [] }],
      initializers: { w: HostTensor.from('float32', [], [1]) },
      nodes: [node('Neg', ['x'], ['y']), node('Identity', ['y'], ['z'])],
      outputs: ['w', 'x', 'y', 'z'],
    };
    expect(text(spec)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(2, 3), float32], %unused: Tensor[(), float32], results=["w","x","y","z"]) {
        %0 = neg(%x);
        (1f, %x, %0, %0)
      }
      "
    `);
  });

  test('names that stand twice', () => {
    expect(refused({ inputs: [X, X], nodes: [], outputs: ['x'] })).toThrow(
      'input "x": got two of that name',
    );
    const w = HostTensor.from('float32', [], [1]);
    const initializers = { w };
    const sparseInitializers = {
      w: {
        values: HostTensor.from('float32', [0], []),
        indices: HostTensor.from('int64', [0], []),
        shape: [1],
      },
    };
    expect(refused({ nodes: [], initializers, sparseInitializers, outputs: ['w'] })).toThrow(
      'initializer "w": got two of that name',
    );
  });

  test('no outputs', () => {
    expect(refused({ inputs: [X], nodes: [], outputs: [] })).toThrow(
      'ONNX graph: got no outputs, expected one or more.',
    );
  });

  test('an attribute of another type than the operator has', () => {
    const nodes = [node('Softmax', ['x'], ['y'], { axis: { float: 1 } })];
    expect(refused({ inputs: [X], nodes, outputs: ['y'] })).toThrow(
      'node "y" (Softmax): attribute axis: got attribute type 1, expected 2 (int).',
    );
  });

  test('a circle names its nodes', () => {
    const nodes = [
      node('Add', ['x', 'c'], ['a']),
      node('Neg', ['a'], ['b']),
      node('Neg', ['b'], ['c']),
    ];
    expect(refused({ inputs: [X], nodes, outputs: ['c'] })).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: node "c" (Neg): got a node that depends on its own output through node "b" (Neg), node "a" (Add), expected a graph without cycles.]`,
    );
  });
});

describe('external data', () => {
  const spec: OnnxModelSpec = {
    inputs: [{ name: 'x', shape: [2] }],
    externalInitializers: {
      w: { dtype: 'float32', shape: [2], place: { location: 'a/w.bin', offset: '4' } },
    },
    nodes: [node('Add', ['x', 'w'], ['y'])],
    outputs: ['y'],
  };

  test('is read by whoever imports', () => {
    const file = new Uint8Array(Float32Array.of(1, 2, 3).buffer);
    const asked: string[] = [];
    const module = importOnnx(writeOnnxModel(spec), {
      externalData: (path, { byteOffset, byteLength }) => {
        asked.push(`${path} ${byteOffset} ${byteLength}`);
        return file.subarray(byteOffset, byteOffset + byteLength);
      },
    });
    expect(printModule(module)).toContain('add(%x, [2f, 3f])');
    expect(asked).toEqual(['a/w.bin 4 8']);
    expect(refused(spec)).toThrow(
      'initializer "w": got tensor data in an external file (a/w.bin), expected data inside',
    );
  });

  test('is loaded ahead where reading takes time', async () => {
    const bytes = writeOnnxModel(spec);
    const file = new Blob([Float32Array.of(1, 2, 3)]);
    const externalData = await loadExternalData(bytes, async (_, { byteOffset, byteLength }) => {
      const piece = file.slice(byteOffset, byteOffset + byteLength);
      return new Uint8Array(await piece.arrayBuffer());
    });
    expect(printModule(importOnnx(bytes, { externalData }))).toContain('add(%x, [2f, 3f])');
  });
});
