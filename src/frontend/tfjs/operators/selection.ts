import type { Expr } from '../../../compiler/ir/expr.ts';
import { becomes, type TensorflowNode, type TensorflowOperators } from '../tensorflow-node.ts';

const reduction = (name: string) => (node: TensorflowNode) => {
  const x = node.input(0);
  const axes = node.axesInput(1, node.rank(x));
  const keepdims = node.attributes.bool('keep_dims', false) ? 1 : 0;
  // No axes are none here, and all in ONNX.
  if (axes.length === 0) return x;
  return node.one(name, [x, node.int64s(axes)], { keepdims });
};

/** All or any of booleans, as the least or the greatest of 0 and 1. */
const logical = (name: string) => (node: TensorflowNode) => {
  const x = node.input(0);
  const axes = node.axesInput(1, node.rank(x));
  const keepdims = node.attributes.bool('keep_dims', false) ? 1 : 0;
  if (axes.length === 0) return x;
  const found = node.one(name, [node.cast(x, 'int32'), node.int64s(axes)], { keepdims });
  return node.cast(found, 'bool');
};

const place = (name: string) => (node: TensorflowNode) => {
  const x = node.input(0);
  const axis = node.inputs[1] === undefined ? 0 : (node.numberInput(1, 'axes') ?? 0);
  const found = node.one(name, [x], { axis: node.axis(axis, node.rank(x)), keepdims: 0 });
  return node.cast(found, 'int32');
};

function gather(node: TensorflowNode): Expr {
  const [x, indices] = [node.input(0), node.input(1)];
  const batches = node.attributes.int('batch_dims', 0);
  const axis = node.axis(node.numberInput(2, 'axes') ?? 0, node.rank(x));
  if (batches === 0) return node.one('Gather', [x, indices], { axis });
  if (axis !== batches)
    throw node.unsupported(`axis ${axis} behind ${batches} batches`, 'the first behind them');
  const tuples = node.one('Unsqueeze', [node.cast(indices, 'int64'), node.int64s([-1])]);
  return node.one('GatherND', [x, tuples], { batch_dims: batches });
}

function topK(node: TensorflowNode): readonly (Expr | undefined)[] {
  const [values, indices] = node.onnx('TopK', [node.input(0), node.longs(1)], { axis: -1 }, 2);
  return [values, indices && node.cast(indices, 'int32')];
}

/** Coordinates of the elements that are true, one row each. */
function where(node: TensorflowNode): Expr {
  const places = node.one('NonZero', [node.input(0)]);
  return node.cast(node.transpose(places, [1, 0]), 'int32');
}

/** The places of the boxes that are kept, best first. */
function chosenBoxes(node: TensorflowNode): Expr {
  const single = (x: Expr, axes: readonly number[]) =>
    node.one('Unsqueeze', [x, node.int64s(axes)]);
  const [most, overlap, score] = [2, 3, 4].map((i) => node.inputs[i]);
  const limits = [overlap, score].map((x) => x && node.one('Reshape', [x, node.int64s([1])]));
  const triples = node.one('NonMaxSuppression', [
    single(node.input(0), [0]),
    single(node.input(1), [0, 1]),
    most && node.asLongs(most),
    ...limits,
  ]);
  return node.cast(node.one('Gather', [triples, node.scalar(2, 'int64')], { axis: 1 }), 'int32');
}

function suppressed(node: TensorflowNode): readonly Expr[] {
  const sigma = node.inputs[5] === undefined ? 0 : node.numberInput(5, 'widths');
  if (sigma !== 0) throw node.unsupported(`soft suppression of width ${sigma}`, '0');
  if (node.attributes.bool('pad_to_max_output_size', false)) {
    throw node.unsupported('results that are padded', 'pad_to_max_output_size=false');
  }
  const boxes = chosenBoxes(node);
  const scores = node.one('Gather', [node.input(1), boxes], { axis: 0 });
  const count = node.one('Squeeze', [node.one('Shape', [boxes]), node.int64s([0])]);
  return [boxes, scores, node.cast(count, 'int32')];
}

/** Values at places of a tensor of another one. */
function sparseToDense(node: TensorflowNode): Expr {
  const [indices, sizes, values] = [node.input(0), node.longs(1), node.input(2)];
  const [least = node.scalar(0), filled = values] = node.matched(node.input(3), values);
  const base = node.one('Expand', [least, sizes]);
  const rank = node.rank(indices);
  const axes = rank === 0 ? [0, 1] : [1];
  const tuples = rank === 2 ? indices : node.one('Unsqueeze', [indices, node.int64s(axes)]);
  const [count = 1] = node.shape(tuples);
  const rows = node.one('Expand', [filled, node.sizes([count])]);
  return node.one('ScatterND', [base, node.cast(tuples, 'int64'), rows]);
}

function scatterNd(node: TensorflowNode): Expr {
  const [indices, updates, sizes] = [node.input(0), node.input(1), node.longs(2)];
  const zero = node.cast(node.scalar(0), node.type(updates).dtype);
  const base = node.one('Expand', [zero, sizes]);
  return node.one('ScatterND', [base, node.cast(indices, 'int64'), updates], { reduction: 'add' });
}

function oneHot(node: TensorflowNode): Expr {
  const [on = node.input(2), off = node.input(3)] = node.matched(node.input(2), node.input(3));
  const values = node.one(
    'Concat',
    [off, on].map((x) => node.one('Reshape', [x, node.int64s([1])])),
    { axis: 0 },
  );
  const axis = node.attributes.int('axis', -1);
  return node.one('OneHot', [node.input(0), node.longs(1), values], { axis });
}

const resize = (isNearest: boolean) => (node: TensorflowNode) => {
  const x = node.cast(node.input(0), 'float32');
  const isAligned = node.attributes.bool('align_corners', false);
  const isHalf = node.attributes.bool('half_pixel_centers', false);
  const coordinates = isAligned ? 'align_corners' : isHalf ? 'half_pixel' : 'asymmetric';
  const [batch = 1, , , channels = 1] = node.shape(x);
  const size = node.longs(1);
  const sizes = node.one(
    'Concat',
    [node.asLongs(node.sizes([batch])), size, node.asLongs(node.sizes([channels]))],
    { axis: 0 },
  );
  return node.one('Resize', [x, undefined, undefined, sizes], {
    coordinate_transformation_mode: coordinates,
    ...(isNearest
      ? { mode: 'nearest', nearest_mode: isAligned || isHalf ? 'round_prefer_ceil' : 'floor' }
      : { mode: 'linear' }),
  });
};

const alongLast = (name: string) => (node: TensorflowNode) =>
  node.one(name, [node.input(0)], { axis: -1 });

export const SELECTION: TensorflowOperators = {
  All: becomes('reduce_min cast', logical('ReduceMin')),
  Any: becomes('reduce_max cast', logical('ReduceMax')),
  Max: becomes('reduce_max', reduction('ReduceMax')),
  Mean: becomes('reduce_mean', reduction('ReduceMean')),
  Min: becomes('reduce_min', reduction('ReduceMin')),
  Prod: becomes('reduce_prod', reduction('ReduceProd')),
  Sum: becomes('reduce_sum', reduction('ReduceSum')),
  ArgMax: becomes('arg_max cast', place('ArgMax')),
  ArgMin: becomes('arg_min cast', place('ArgMin')),
  Cumsum: becomes('cumulative', (node) =>
    node.one('CumSum', [node.input(0), node.cast(node.input(1), 'int64')], {
      exclusive: node.attributes.int('exclusive', 0),
      reverse: node.attributes.int('reverse', 0),
    }),
  ),
  Softmax: becomes('softmax', alongLast('Softmax')),
  LogSoftmax: becomes('log_softmax', alongLast('LogSoftmax')),
  Gather: becomes('gather', gather),
  GatherV2: becomes('gather gather_nd', gather),
  GatherNd: becomes('gather_nd', (node) =>
    node.one('GatherND', [node.input(0), node.cast(node.input(1), 'int64')]),
  ),
  NonMaxSuppressionV3: becomes('non_max_suppression gather cast', chosenBoxes),
  NonMaxSuppressionV5: becomes('non_max_suppression gather cast', suppressed),
  OneHot: becomes('one_hot', oneHot),
  Range: becomes('range', (node) => {
    const [start, limit, delta] = node.matched(node.input(0), node.input(1), node.input(2));
    return node.one('Range', [start, limit, delta]);
  }),
  ResizeBilinear: becomes('resample', resize(false)),
  ResizeNearestNeighbor: becomes('gather', resize(true)),
  ScatterNd: becomes('scatter_nd broadcast_to', scatterNd),
  SparseToDense: becomes('scatter_nd broadcast_to', sparseToDense),
  TensorScatterUpdate: becomes('scatter_nd', (node) =>
    node.one('ScatterND', [node.input(0), node.cast(node.input(1), 'int64'), node.input(2)]),
  ),
  TopKV2: becomes('top_k', topK),
  Where: becomes('nonzero transpose cast', where),
};
