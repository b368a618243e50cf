import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import {
  onnxNode as node,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../../src/testing/onnx-writer.ts';
import { type Draw, integersBetween, ints, quarters, reals } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

/** Constants in each of their forms as operands. */
function constants(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['n', 3]);
  const constant = (attributes: Parameters<GraphBuilder['add']>[2]) =>
    graph.add('Constant', [], attributes);
  const row = constant({ value_floats: { floats: [0.5, -2, draw.real(-1, 1)] } });
  const factor = constant({ value_float: { float: draw.real(-2, 2) } });
  const axis = constant({ value_ints: [draw.int(0, 1)] });
  const whole = constant({ value_int: draw.int(1, 4) });
  const table = constant({ value: draw.tensor('float32', [2, 3], quarters) });
  const small = constant({ value: draw.tensor('int8', [3]) });
  const sparse = constant({
    sparse_value: {
      sparse: {
        values: HostTensor.from('float32', [2], [1.5, draw.real(-1, 1)]),
        indices: draw.often(0.5) ? ints([1, 5]) : HostTensor.from('int64', [2, 2], [0, 1, 1, 2]),
        shape: [2, 3],
      },
    },
  });
  const sum = graph.add('Add', [graph.add('Mul', [x, factor]), row]);
  const powers = graph.add('Pow', [graph.add('Abs', [sum]), graph.add('Cast', [whole], { to: 1 })]);
  const product = graph.add('MatMul', [powers, graph.add('Transpose', [table], { perm: [1, 0] })]);
  const other = graph.add('MatMul', [product, sparse]);
  const y = graph.add('Sub', [other, graph.add('Cast', [small], { to: 1 })]);
  const total = graph.add('ReduceSum', [y, axis], { keepdims: 0 });
  const feeds = (n: number) => ({ x: draw.tensor('float32', [n, 3], quarters) });
  return modelCase(graph.model(13, [y, total]), [2, 1, 4].map(feeds), { rtol: 1e-3, atol: 1e-2 });
}

/** Functions of a model that call each other, with attributes, defaults and inputs left out. */
function functions(draw: Draw) {
  const domain = 'pkg.example';
  const opset = draw.pick([18, 20, 21]);
  const opsets = { [domain]: 1 };
  const call = (op: string, inputs: readonly string[], output: string): OnnxNodeSpec => ({
    op,
    domain,
    inputs,
    outputs: [output],
  });
  const slope = draw.maybe(() => ({ float: draw.real(0, 1) }));
  const bytes = writeOnnxModel({
    opset,
    opsets,
    functions: [
      {
        domain,
        name: 'leaky',
        inputs: ['x'],
        outputs: ['y'],
        opset,
        defaults: { slope: { float: 0.2 } },
        nodes: [node('LeakyRelu', ['x'], 'y', { alpha: { reference: 'slope', type: 1 } })],
      },
      {
        domain,
        name: 'linear',
        inputs: ['x', 'w', 'b'],
        outputs: ['y'],
        opset,
        opsets,
        nodes: [
          node('Constant', [], 'order', { value_ints: [1, 0] }),
          node('Transpose', ['w'], 't', { perm: [1, 0] }),
          node('MatMul', ['x', 't'], 'product'),
          node('Add', ['product', 'b'], 'sum'),
          call('leaky', ['sum'], 'y'),
        ],
      },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 3] }],
    initializers: {
      w: draw.tensor('float32', [4, 3], reals),
      b: draw.tensor('float32', [4]),
      v: draw.tensor('float32', [4, 4], reals),
    },
    nodes: [
      call('linear', ['x', 'w', 'b'], 'h'),
      call('linear', ['h', 'v', 'b'], 'sum'),
      {
        ...call('leaky', ['sum'], 'out'),
        attributes: slope === undefined ? {} : { slope },
      },
    ],
    outputs: ['out', 'h'],
  });
  const feeds = (n: number) => ({ x: draw.tensor('float32', [n, 3], quarters) });
  const text = `functions of opset ${opset}, slope ${slope?.float ?? 'left out'}`;
  return modelCase({ bytes, outputs: ['out', 'h'], text }, [2, 5, 1].map(feeds), { atol: 1e-3 });
}

/** Views of views by computed sizes: splits, unfolded windows, and axes that come and go. */
function views(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['b', 'h', 'w', 4]);
  const window = draw.int(1, 3);
  const shape = graph.add('Shape', [x]);
  const [b = '', h = '', w = ''] = graph.many('Split', [shape, graph.ints(1, 1, 1, 1)], {
    attributes: { axis: 0 },
    outputs: 4,
  });
  const size = graph.ints(window);
  const missing = (dim: string) =>
    graph.add('Mod', [graph.add('Sub', [size, graph.add('Mod', [dim, size])]), size]);
  const zeros = graph.ints(0, 0, 0, 0);
  const pads = graph.add('Concat', [zeros, graph.ints(0), missing(h), missing(w), graph.ints(0)], {
    axis: 0,
  });
  const padded = graph.add('Pad', [x, pads]);
  const [, ph = '', pw = ''] = graph.many(
    'Split',
    [graph.add('Shape', [padded]), graph.ints(1, 1, 1, 1)],
    {
      attributes: { axis: 0 },
      outputs: 4,
    },
  );
  const rows = graph.add('Div', [ph, size]);
  const columns = graph.add('Div', [pw, size]);
  const blocks = graph.add('Reshape', [
    padded,
    graph.add('Concat', [b, rows, size, columns, size, graph.ints(4)], { axis: 0 }),
  ]);
  const grouped = graph.add('Transpose', [blocks], { perm: [0, 1, 3, 2, 4, 5] });
  const windows = graph.add('Reshape', [grouped, graph.ints(-1, window * window, 4)]);
  const mixed = graph.add('Softmax', [
    graph.add('MatMul', [windows, graph.add('Transpose', [windows], { perm: [0, 2, 1] })]),
  ]);
  const y = graph.add('MatMul', [mixed, windows]);
  const back = graph.add('Reshape', [
    y,
    graph.add('Concat', [b, rows, columns, size, size, graph.ints(-1)], { axis: 0 }),
  ]);
  const whole = graph.add('Reshape', [
    graph.add('Transpose', [back], { perm: [0, 1, 3, 2, 4, 5] }),
    graph.add('Concat', [b, ph, pw, graph.ints(4)], { axis: 0 }),
  ]);
  const cut = graph.add('Slice', [
    whole,
    graph.ints(0, 0),
    graph.add('Concat', [h, w], { axis: 0 }),
    graph.ints(1, 2),
  ]);
  const rolled = graph.add(
    'Concat',
    [
      graph.add('Slice', [cut, graph.ints(-1), graph.ints(2 ** 31 - 1), graph.ints(1)]),
      graph.add('Slice', [cut, graph.ints(0), graph.ints(-1), graph.ints(1)]),
    ],
    { axis: 1 },
  );
  const result = graph.add('Add', [rolled, x]);
  const feeds = ([n = 1, height = 1, width = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [n, height, width, 4], reals),
  });
  return modelCase(
    graph.model(13, [result, windows]),
    [
      [1, 4, 4],
      [2, 3, 5],
      [1, 1, 2],
      [1, 7, 6],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

/** Embedded categories and numbers joined, hot vectors, bins and medians. */
function tables(draw: Draw) {
  const graph = new GraphBuilder();
  const kinds = graph.input('kinds', 'int32', ['n', 2]);
  const numbers = graph.input('numbers', 'float32', ['n', 3]);
  const columns = graph.many('Split', [kinds, graph.ints(1, 1)], {
    attributes: { axis: 1 },
    outputs: 2,
  });
  const embedded = columns.map((column, i) => {
    const table = graph.constant(draw.tensor('float32', [4 + i, 2], reals));
    const rows = graph.add('Gather', [table, graph.add('Cast', [column], { to: 7 })], { axis: 0 });
    return graph.add('Reshape', [rows, graph.ints(-1, 2)]);
  });
  const isKnown = graph.add('Not', [graph.add('IsNaN', [numbers])]);
  const filled = graph.add('Where', [isKnown, numbers, graph.float(0)]);
  const known = graph.add('Cast', [isKnown], { to: 1 });
  const joined = graph.add('Concat', [...embedded, filled, known], { axis: 1 });
  const wide = graph.add('Gemm', [
    joined,
    graph.constant(draw.tensor('float32', [10, 4], reals)),
    graph.constant(draw.tensor('float32', [4])),
  ]);
  const hidden = graph.add('PRelu', [wide, graph.constant(draw.tensor('float32', [4]))]);
  const edgesOfBins = graph.constant(HostTensor.from('float32', [4], [-1, 0, 0.5, 2]));
  const above = graph.add('GreaterOrEqual', [
    graph.add('Unsqueeze', [filled, graph.ints(2)]),
    edgesOfBins,
  ]);
  const bins = graph.add('ReduceSum', [graph.add('Cast', [above], { to: 6 }), graph.ints(2)], {
    keepdims: 0,
  });
  const [sorted = ''] = graph.many('TopK', [hidden, graph.ints(4)], {
    attributes: { axis: 1, largest: 0 },
    outputs: 2,
  });
  const median = graph.add('Gather', [sorted, graph.int(2)], { axis: 1 });
  const feeds = (n: number) => ({
    kinds: draw.tensor('int32', [n, 2], integersBetween(-4, 3)),
    numbers: draw.tensor('float32', [n, 3], {
      number: (d) => (d.often(0.2) ? Number.NaN : d.int(-8, 8) / 4),
    }),
  });
  return modelCase(graph.model(13, [hidden, bins, median]), [3, 1, 8].map(feeds), { atol: 1e-3 });
}

/** Models in unusual forms of files and of views. */
export const FORM_MODELS: ModelTable = {
  'model.constants': constants,
  'model.functions': functions,
  'model.tables': tables,
  'model.views': views,
};
