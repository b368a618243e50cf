import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { ExpandedCall, AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { linearTaps, sampleBetween, type SampleTap } from '../adjoint/sample-between.ts';
import { requireConstantTable } from '../adjoint/table-without-derivative.ts';
import { boolAttribute, stringAttribute, intAttribute, intsAttribute } from '../attributes.ts';

/** Samples of the image around places of the grid. */
export const gridSampleAdjoint = byExpansion((call) => {
  const { inputs, output, graph } = call;
  const [x, grid] = inputs;
  if (x === undefined || grid === undefined) return output;
  const [batch = 1, channels = 1, ...sizes] = x.shape;
  const points = output.shape.slice(2).reduce((product, dim) => graph.dims.mul(product, dim), 1);
  const last = grid.shape.length - 1;
  const taps = sizes.map((size, axis) => {
    const place = graph.at(grid, last, sizes.length - 1 - axis);
    const at = graph.cast(graph.reshape(place, [batch, 1, points]), x.dtype);
    return tapsOf(call, at, size);
  });
  const found = sampleBetween(graph, { image: x, leading: 2, taps });
  return graph.reshape(found, [batch, channels, ...output.shape.slice(2)]);
});

type Size = GraphTensor['shape'][number];

/** The elements of an axis around places from -1 to 1. */
function tapsOf(call: ExpandedCall, from: GraphTensor, size: Size): readonly SampleTap[] {
  const { attributes, graph } = call;
  const isAligned = boolAttribute(attributes, 'align_corners');
  const [mode, padding] = ['mode', 'padding'].map((name) => stringAttribute(attributes, name));
  const { dtype } = from;
  const extent = graph.size([isAligned ? graph.dims.sub(size, 1) : size], dtype);
  const scaled = graph.mul(graph.add(from, 1), extent);
  let at = graph.mul(isAligned ? scaled : graph.sub(scaled, 1), 0.5);
  if (mode === 'nearest') at = graph.unary('round', at);
  const low = isAligned ? 0 : -0.5;
  const edge = graph.size([graph.dims.sub(size, 1)], dtype);
  const limit = typeof edge === 'number' ? graph.scalar(edge, dtype) : edge;
  const clamped = (place: GraphTensor): GraphTensor => {
    const zero = graph.scalar(0, dtype);
    return graph.call('minimum', [graph.call('maximum', [place, zero]), limit]);
  };
  const mirrored = (place: GraphTensor): GraphTensor => mirror(call, place, { low, limit });
  const isBeyond = graph.less(graph.sub(limit, low), at);
  const isOutside = graph.where(isBeyond, isBeyond, graph.less(at, low));
  if (padding === 'border' && mode !== 'cubic') at = graph.where(isOutside, clamped(at), at);
  if (padding === 'reflection') at = graph.where(isOutside, mirrored(at), at);
  const taps =
    mode === 'nearest'
      ? [{ place: graph.unary('floor', at), weight: ones(call, at) }]
      : mode === 'cubic'
        ? cubicTaps(call, at)
        : linearTaps(graph, at);
  if (padding === 'zeros') return taps;
  return taps.map(({ place, weight }) => {
    if (padding === 'border') return { place: clamped(place), weight };
    const isInside = graph.equal(place, clamped(place));
    const other = graph.unary('floor', graph.add(mirrored(place), 0.5));
    return { place: clamped(graph.where(isInside, place, other)), weight };
  });
}

function ones({ graph }: ExpandedCall, like: GraphTensor): GraphTensor {
  return graph.full(like.shape, like.dtype, 1);
}

/** A place reflected into the axis, as often as that takes. */
function mirror(
  { graph }: ExpandedCall,
  place: GraphTensor,
  { low, limit }: { readonly low: number; readonly limit: GraphTensor },
): GraphTensor {
  const span = graph.sub(limit, 2 * low);
  const isNone = graph.lessEqual(span, 0);
  const safe = graph.where(isNone, 1, span);
  const distance = graph.unary('abs', graph.sub(place, low));
  const turns = graph.unary('floor', graph.div(distance, safe));
  const rest = graph.sub(distance, graph.mul(turns, safe));
  const half = graph.mul(turns, 0.5);
  const isEven = graph.equal(graph.unary('floor', half), half);
  const ahead = graph.add(rest, low);
  const behind = graph.sub(graph.sub(limit, low), rest);
  return graph.where(isNone, low, graph.where(isEven, ahead, behind));
}

/** R. Keys' kernel with a = -0.75. */
function cubicTaps({ graph }: ExpandedCall, at: GraphTensor): readonly SampleTap[] {
  const base = graph.unary('floor', at);
  return [-1, 0, 1, 2].map((step) => {
    const place = graph.add(base, step);
    const x = graph.unary('abs', graph.sub(place, at));
    const near = (): GraphTensor => {
      const slope = graph.sub(graph.mul(x, 1.25), 2.25);
      return graph.add(graph.mul(graph.mul(slope, x), x), 1);
    };
    const far = (): GraphTensor => {
      const inner = graph.mul(graph.add(graph.mul(x, -0.75), 3.75), x);
      return graph.add(graph.mul(graph.sub(inner, 6), x), 3);
    };
    return { place, weight: step === 0 || step === 1 ? near() : far() };
  });
}

/** Elements chosen by the indices of the table, times its weights. */
const expanded = byExpansion(({ inputs, output, attributes, graph }) => {
  const [x, table] = inputs;
  if (x === undefined || table === undefined) return output;
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'resample');
  const [size = 1, width = 1] = table.shape;
  const taps = graph.dims.sub(width, 1);
  const begins = graph.reshape(graph.at(table, 1, 0), [size, 1]);
  // A row that begins before the first element is a constant.
  const isConstant = graph.less(begins, 0);
  const from = graph.cast(graph.where(isConstant, 0, begins), 'int64');
  const places = graph.add(from, graph.reshape(graph.count(taps), [1, taps]));
  const chosen = graph.call('gather', [x, places], { axis });
  const weights = graph.where(isConstant, 0, graph.sliceAxis(table, 1, { from: 1, to: width }));
  const after = x.shape.slice(axis + 1).map(() => 1);
  const shares = graph.reshape(graph.cast(weights, x.dtype), [size, taps, ...after]);
  return graph.call('reduce_sum', [graph.mul(chosen, shares)], { axes: [axis + 1] });
});

export const resampleAdjoint: AdjointRule = (call) => {
  requireConstantTable(call, 1, 'resample: input table');
  return expanded(call);
};

export const repeatAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const repeats = intsAttribute(attributes, 'repeats');
  const split = x.shape.flatMap((dim, axis) => [dim, repeats[axis] ?? 1]);
  const axes = x.shape.map((_, axis) => 2 * axis + 1);
  const sums = graph.sum(graph.reshape(cotangent, split), axes);
  return [graph.reshape(sums, x.shape)];
};
