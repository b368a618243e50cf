import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, ints, integersBetween, quarters, reals, scalar } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

const small = { number: (draw: Draw) => draw.real(-0.5, 0.5) };
const LARGEST = 2 ** 31 - 1;

/** A size of a tensor as exporters read it, as a tensor of one element. */
function sizeOf(graph: GraphBuilder, x: string, axis: number, asVector = true): string {
  const size = graph.add('Gather', [graph.add('Shape', [x]), graph.int(axis)], { axis: 0 });
  return asVector ? graph.add('Unsqueeze', [size, graph.ints(0)]) : size;
}

function linear(
  graph: GraphBuilder,
  draw: Draw,
  x: string,
  [rows, columns]: readonly [number, number],
) {
  const weights = graph.constant(draw.tensor('float32', [rows, columns], small));
  const bias = graph.constant(draw.tensor('float32', [columns], small));
  const product = graph.add('MatMul', [x, weights]);
  return draw.often(0.5) ? graph.add('Add', [bias, product]) : graph.add('Add', [product, bias]);
}

/** Normalisation of the last axis, spelled out as before opset 17. */
function normalized(graph: GraphBuilder, draw: Draw, x: string, width: number): string {
  const mean = graph.add('ReduceMean', [x], { axes: [-1] });
  const centred = graph.add('Sub', [x, mean]);
  const squares = graph.add('Pow', [centred, graph.float(2)]);
  const variance = graph.add('ReduceMean', [squares], { axes: [-1] });
  const deviation = graph.add('Sqrt', [graph.add('Add', [variance, graph.float(1e-5)])]);
  const scaled = graph.add('Mul', [
    graph.add('Div', [centred, deviation]),
    graph.constant(draw.tensor('float32', [width], reals)),
  ]);
  return graph.add('Add', [scaled, graph.constant(draw.tensor('float32', [width], reals))]);
}

/** GELU, spelled out by the error function or by tanh. */
function gelu(graph: GraphBuilder, draw: Draw, x: string): string {
  if (draw.often(0.5)) {
    const erf = graph.add('Erf', [graph.add('Div', [x, graph.float(Math.SQRT2)])]);
    const product = graph.add('Mul', [x, graph.add('Add', [erf, graph.float(1)])]);
    return graph.add('Mul', [product, graph.float(0.5)]);
  }
  const cube = graph.add('Mul', [graph.add('Pow', [x, graph.float(3)]), graph.float(0.044715)]);
  const inner = graph.add('Mul', [
    graph.add('Add', [x, cube]),
    graph.float(Math.sqrt(2 / Math.PI)),
  ]);
  const outer = graph.add('Add', [graph.add('Tanh', [inner]), graph.float(1)]);
  return graph.add('Mul', [graph.add('Mul', [x, graph.float(0.5)]), outer]);
}

/** Heads by Reshape to sizes that are computed, as the exporter by tracing writes them. */
function heads(
  graph: GraphBuilder,
  x: string,
  source: string,
  [count, size]: readonly [number, number],
): string {
  const sizes = graph.add(
    'Concat',
    [sizeOf(graph, source, 0), sizeOf(graph, source, 1), graph.ints(count), graph.ints(size)],
    { axis: 0 },
  );
  return graph.add('Transpose', [graph.add('Reshape', [x, sizes])], { perm: [0, 2, 1, 3] });
}

/** A layer of an encoder with a mask of zeros and ones, by Where or by large negative numbers. */
function encoder(draw: Draw) {
  const graph = new GraphBuilder();
  const [count, size] = [draw.int(1, 3), draw.int(1, 4)];
  const width = count * size;
  const ids = graph.input('ids', 'int64', ['batch', 'length']);
  const mask = graph.input('mask', 'int64', ['batch', 'length']);
  const words = graph.constant(draw.tensor('float32', [9, width], reals));
  const places = graph.constant(draw.tensor('float32', [8, width], reals));
  const length = sizeOf(graph, ids, 1);
  const table = graph.constant(HostTensor.from('int64', [1, 8], [0, 1, 2, 3, 4, 5, 6, 7]));
  const positions = graph.add('Slice', [
    table,
    graph.ints(0),
    length,
    graph.ints(1),
    graph.ints(1),
  ]);
  const embedded = graph.add('Add', [
    graph.add('Gather', [words, ids]),
    graph.add('Gather', [places, positions]),
  ]);
  const x = normalized(graph, draw, embedded, width);
  const wide = graph.add('Unsqueeze', [mask, graph.ints(1, 2)]);
  const [q, k, v] = [0, 1, 2].map(() =>
    heads(graph, linear(graph, draw, x, [width, width]), x, [count, size]),
  );
  const scores = graph.add('Div', [
    graph.add('MatMul', [q ?? '', graph.add('Transpose', [k ?? ''], { perm: [0, 1, 3, 2] })]),
    graph.float(Math.sqrt(size)),
  ]);
  let masked: string;
  if (draw.often(0.5)) {
    const bias = graph.add('Mul', [
      graph.add('Sub', [graph.float(1), graph.add('Cast', [wide], { to: 1 })]),
      graph.float(-10000),
    ]);
    masked = graph.add('Add', [scores, bias]);
  } else {
    const expanded = graph.add('Expand', [wide, graph.add('Shape', [scores])]);
    const isHidden = graph.add('Equal', [expanded, graph.int(0)]);
    masked = graph.add('Where', [isHidden, graph.float(-3.4028234663852886e38), scores]);
  }
  const weights = graph.add('Softmax', [masked], { axis: -1 });
  const mixed = graph.add('Transpose', [graph.add('MatMul', [weights, v ?? ''])], {
    perm: [0, 2, 1, 3],
  });
  const flat = graph.add(
    'Concat',
    [sizeOf(graph, mixed, 0), sizeOf(graph, mixed, 1), graph.ints(-1)],
    {
      axis: 0,
    },
  );
  const attended = linear(graph, draw, graph.add('Reshape', [mixed, flat]), [width, width]);
  const y = normalized(graph, draw, graph.add('Add', [attended, x]), width);
  const up = gelu(graph, draw, linear(graph, draw, y, [width, 2 * width]));
  const z = graph.add('Add', [linear(graph, draw, up, [2 * width, width]), y]);
  const first = graph.add('Gather', [z, graph.int(0)], { axis: 1 });
  const pooled = graph.add('Tanh', [
    graph.add(
      'Gemm',
      [
        first,
        graph.constant(draw.tensor('float32', [3, width], small)),
        graph.constant(draw.tensor('float32', [3])),
      ],
      { transB: 1 },
    ),
  ]);
  const feeds = ([batch = 1, n = 1]: readonly number[]) => ({
    ids: draw.tensor('int64', [batch, n], integersBetween(0, 8)),
    mask: HostTensor.from(
      'int64',
      [batch, n],
      Array.from({ length: batch * n }, (_, i) => (i % n === 0 || draw.often(0.7) ? 1 : 0)),
    ),
  });
  return modelCase(
    graph.model(13, [z, pooled]),
    [
      [1, 3],
      [2, 5],
      [3, 1],
      [1, 8],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

/** A decoder with a cache that grows, a causal mask by Range or Trilu, and rotated halves. */
function decoder(draw: Draw) {
  const graph = new GraphBuilder();
  const [count, kv, half] = [draw.pick([2, 4]), draw.pick([1, 2]), draw.int(1, 3)];
  const size = 2 * half;
  const width = count * size;
  const x = graph.input('x', 'float32', ['batch', 'length', width]);
  const pastK = graph.input('pastK', 'float32', ['batch', kv, 'past', size]);
  const pastV = graph.input('pastV', 'float32', ['batch', kv, 'past', size]);
  const length = sizeOf(graph, x, 1, false);
  const past = sizeOf(graph, pastK, 2, false);
  const total = graph.add('Add', [past, length]);
  const positions = graph.add('Range', [past, total, graph.int(1)]);
  const inverse = graph.constant(
    HostTensor.from(
      'float32',
      [half],
      Array.from({ length: half }, (_, i) => 100 ** (-i / half)),
    ),
  );
  const angles = graph.add('Mul', [
    graph.add('Unsqueeze', [graph.add('Cast', [positions], { to: 1 }), graph.ints(1)]),
    inverse,
  ]);
  const both = graph.add('Concat', [angles, angles], { axis: -1 });
  const [cos, sin] = [graph.add('Cos', [both]), graph.add('Sin', [both])];
  const rotate = (value: string) => {
    const left = graph.add('Slice', [
      value,
      graph.ints(0),
      graph.ints(half),
      graph.ints(3),
      graph.ints(1),
    ]);
    const right = graph.add('Slice', [
      value,
      graph.ints(half),
      graph.ints(LARGEST),
      graph.ints(3),
      graph.ints(1),
    ]);
    const turned = graph.add('Concat', [graph.add('Neg', [right]), left], { axis: -1 });
    return graph.add('Add', [graph.add('Mul', [value, cos]), graph.add('Mul', [turned, sin])]);
  };
  const part = (n: number) => heads(graph, linear(graph, draw, x, [width, n * size]), x, [n, size]);
  const q = rotate(part(count));
  const k = graph.add('Concat', [pastK, rotate(part(kv))], { axis: 2 });
  const v = graph.add('Concat', [pastV, part(kv)], { axis: 2 });
  const repeat = (value: string) => {
    if (kv === count) return value;
    const sizes = [0, 1, 2, 3].map((axis) => sizeOf(graph, value, axis));
    const wide = graph.add(
      'Concat',
      [sizes[0] ?? '', sizes[1] ?? '', graph.ints(count / kv), sizes[2] ?? '', sizes[3] ?? ''],
      { axis: 0 },
    );
    const expanded = graph.add('Expand', [graph.add('Unsqueeze', [value, graph.ints(2)]), wide]);
    const flat = graph.add(
      'Concat',
      [sizes[0] ?? '', graph.ints(count), sizes[2] ?? '', graph.ints(size)],
      {
        axis: 0,
      },
    );
    return graph.add('Reshape', [expanded, flat]);
  };
  const scores = graph.add('Mul', [
    graph.add('MatMul', [q, graph.add('Transpose', [repeat(k)], { perm: [0, 1, 3, 2] })]),
    graph.float(size ** -0.5),
  ]);
  const masked = graph.add('Add', [scores, causalBias(graph, draw, { length, total, positions })]);
  const weights = graph.add('Softmax', [masked], { axis: -1 });
  const mixed = graph.add('Transpose', [graph.add('MatMul', [weights, repeat(v)])], {
    perm: [0, 2, 1, 3],
  });
  const y = graph.add('Reshape', [mixed, graph.ints(0, 0, width)]);
  const gate = linear(graph, draw, y, [width, 5]);
  const silu = graph.add('Mul', [gate, graph.add('Sigmoid', [gate])]);
  const out = graph.add('Mul', [silu, linear(graph, draw, y, [width, 5])]);
  const feeds = ([batch = 1, n = 1, before = 0]: readonly number[]) => ({
    x: draw.tensor('float32', [batch, n, width], reals),
    pastK: draw.tensor('float32', [batch, kv, before, size], reals),
    pastV: draw.tensor('float32', [batch, kv, before, size], reals),
  });
  return modelCase(
    graph.model(14, [out, k, v]),
    [
      [1, 4, 0],
      [1, 1, 4],
      [2, 3, 2],
      [1, 1, 9],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

interface Causal {
  readonly length: string;
  readonly total: string;
  readonly positions: string;
}

/** 0 where a key is not later than the query, else a large negative number: (length, total). */
function causalBias(graph: GraphBuilder, draw: Draw, { length, total, positions }: Causal): string {
  const keys = graph.add('Range', [graph.int(0), total, graph.int(1)]);
  const rows = graph.add('Unsqueeze', [positions, graph.ints(1)]);
  const vector = (x: string) => graph.add('Unsqueeze', [x, graph.ints(0)]);
  const shape = graph.add('Concat', [vector(length), vector(total)], { axis: 0 });
  switch (draw.pick(['greater', 'trilu', 'notLess'])) {
    case 'greater': {
      const isLater = graph.add('Greater', [keys, rows]);
      return graph.add('Where', [isLater, graph.float(-1e9), graph.float(0)]);
    }
    case 'trilu': {
      const low = graph.add('ConstantOfShape', [shape], {
        value: HostTensor.from('float32', [1], [-1e9]),
      });
      const past = graph.add('Sub', [total, length]);
      return graph.add('Trilu', [low, graph.add('Add', [past, graph.int(1)])], { upper: 1 });
    }
    default: {
      const isSeen = graph.add('Not', [graph.add('Less', [rows, keys])]);
      const ones = graph.add('Expand', [graph.constant(scalar('float32', 1)), shape]);
      const seen = graph.add('Mul', [graph.add('Cast', [isSeen], { to: 1 }), ones]);
      return graph.add('Mul', [graph.add('Sub', [graph.float(1), seen]), graph.float(-1e9)]);
    }
  }
}

/** A cache of fixed size that is written at positions by ScatterND or ScatterElements. */
function staticCache(draw: Draw) {
  const graph = new GraphBuilder();
  const [capacity, size] = [draw.int(5, 8), draw.int(1, 4)];
  const cache = graph.input('cache', 'float32', ['batch', capacity, size]);
  const x = graph.input('x', 'float32', ['batch', 'n', size]);
  const at = graph.input('at', 'int64', ['n']);
  let updated: string;
  if (draw.often(0.5)) {
    const moved = graph.add('Transpose', [cache], { perm: [1, 0, 2] });
    const rows = graph.add('Transpose', [x], { perm: [1, 0, 2] });
    const indices = graph.add('Unsqueeze', [at, graph.ints(-1)]);
    const written = graph.add('ScatterND', [moved, indices, rows]);
    updated = graph.add('Transpose', [written], { perm: [1, 0, 2] });
  } else {
    const column = graph.add('Reshape', [at, graph.ints(1, -1, 1)]);
    const indices = graph.add('Expand', [column, graph.add('Shape', [x])]);
    updated = graph.add('ScatterElements', [cache, indices, x], { axis: 1 });
  }
  const last = graph.add('Gather', [at, graph.int(-1)], { axis: 0 });
  const end = graph.add('Add', [last, graph.int(1)]);
  const seen = graph.add('Slice', [
    updated,
    graph.ints(0),
    graph.add('Unsqueeze', [end, graph.ints(0)]),
    graph.ints(1),
  ]);
  const mean = graph.add('ReduceMean', [seen], { axes: [1], keepdims: 0 });
  const feeds = ([batch = 1, first = 0, n = 1]: readonly number[]) => ({
    cache: draw.tensor('float32', [batch, capacity, size], quarters),
    x: draw.tensor('float32', [batch, n, size], quarters),
    at: ints(Array.from({ length: n }, (_, i) => first + i)),
  });
  return modelCase(
    graph.model(16, [updated, mean]),
    [
      [1, 0, 3],
      [2, 3, 1],
      [1, 4, 1],
      [3, 0, 5],
    ].map(feeds),
  );
}

/** Relative positions in buckets by logarithms, as T5 has them. */
function relativeBuckets(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['batch', 'length', 2]);
  const [buckets, heads] = [8, draw.int(1, 3)];
  const length = sizeOf(graph, x, 1, false);
  const range = graph.add('Range', [graph.int(0), length, graph.int(1)]);
  const relative = graph.add('Sub', [
    graph.add('Unsqueeze', [range, graph.ints(0)]),
    graph.add('Unsqueeze', [range, graph.ints(1)]),
  ]);
  const isAfter = graph.add('Cast', [graph.add('Greater', [relative, graph.int(0)])], { to: 7 });
  const side = graph.add('Mul', [isAfter, graph.int(buckets / 2)]);
  const distance = graph.add('Abs', [relative]);
  const isNear = graph.add('Less', [distance, graph.int(2)]);
  const ratio = graph.add('Div', [graph.add('Cast', [distance], { to: 1 }), graph.float(2)]);
  const logarithm = graph.add('Div', [graph.add('Log', [ratio]), graph.float(Math.log(8))]);
  const far = graph.add('Add', [
    graph.add('Cast', [graph.add('Mul', [logarithm, graph.float(2)])], { to: 7 }),
    graph.int(2),
  ]);
  const most = graph.add('ConstantOfShape', [graph.add('Shape', [far])], {
    value: HostTensor.from('int64', [1], [buckets / 2 - 1]),
  });
  const bucket = graph.add('Add', [
    side,
    graph.add('Where', [isNear, distance, graph.add('Min', [far, most])]),
  ]);
  const table = graph.constant(draw.tensor('float32', [buckets, heads], reals));
  const biases = graph.add('Transpose', [graph.add('Gather', [table, bucket])], {
    perm: [2, 0, 1],
  });
  const scores = graph.add('MatMul', [x, graph.add('Transpose', [x], { perm: [0, 2, 1] })]);
  const sum = graph.add('Add', [
    graph.add('Unsqueeze', [scores, graph.ints(1)]),
    graph.add('Unsqueeze', [biases, graph.ints(0)]),
  ]);
  const y = graph.add('Softmax', [sum], { axis: 3 });
  const feeds = ([batch = 1, n = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [batch, n, 2], reals),
  });
  return modelCase(
    graph.model(13, [y, bucket]),
    [
      [1, 5],
      [2, 12],
      [1, 1],
      [2, 3],
    ].map(feeds),
    { atol: 1e-4 },
  );
}

/** Models in the idioms of exported transformers. */
export const TRANSFORMER_MODELS: ModelTable = {
  'model.decoder': decoder,
  'model.encoder': encoder,
  'model.relativeBuckets': relativeBuckets,
  'model.staticCache': staticCache,
};
