import type { Adjoint, AdjointRule, ExpandedCall } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { linearTaps, sampleBetween } from '../adjoint/sample-between.ts';
import { intAttribute } from '../attributes.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { maxRoiPoolAdjoint } from './max-roi-pool.adjoint.ts';
import { globalPoolAdjoint, maxPoolAdjoint, sumPoolAdjoint } from './pool.adjoint.ts';
import { biasCotangent, convolve, weightCotangent, windowLists } from './window-adjoint.ts';

/** Samples of the image for each tap of each window, and a product with the weights. */
const deformConvAdjoint = byExpansion((call) => {
  const { inputs, output, attributes, graph } = call;
  const [x, w, offset, mask] = inputs;
  if (x === undefined || w === undefined || offset === undefined) return output;
  const { dims } = graph;
  const groups = intAttribute(attributes, 'groups');
  const parts = intAttribute(attributes, 'offset_groups');
  const [batch = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [outChannels = 1, groupIn = 1, rows = 1, columns = 1] = w.shape;
  const [, , outHeight = 1, outWidth = 1] = output.shape;
  const taps = dims.mul(rows, columns);
  const pixels = dims.mul(outHeight, outWidth);
  const each = dims.floordiv(channels, parts);
  const image = graph.reshape(x, [batch, parts, each, height, width]);
  const split = graph.reshape(offset, [batch, parts, rows, columns, 2, outHeight, outWidth]);
  const places = [0, 1].map((axis) => {
    const shift = graph.at(split, 4, axis);
    const at = graph.add(shift, windowStarts(call, axis));
    return linearTaps(graph, graph.reshape(at, [batch, parts, 1, dims.mul(taps, pixels)]));
  });
  let samples = sampleBetween(graph, { image, leading: 3, taps: places });
  if (mask !== undefined) {
    const share = graph.reshape(mask, [batch, parts, 1, dims.mul(taps, pixels)]);
    samples = graph.mul(samples, share);
  }
  const depth = dims.mul(groupIn, taps);
  const windows = graph.reshape(samples, [batch, groups, depth, pixels]);
  const weights = graph.reshape(w, [groups, dims.floordiv(outChannels, groups), depth]);
  return graph.reshape(graph.matmul(weights, windows), output.shape);
});

/** Where the taps of windows are along an axis without offsets: (rows, columns, height, width). */
function windowStarts(
  { inputs, output, attributes, graph }: ExpandedCall,
  axis: number,
): GraphTensor {
  const { strides, dilations, begins } = windowLists(attributes, 2);
  const [x = output, w = output] = inputs;
  const count = (size: GraphTensor['shape'][number], factor: number, place: number) => {
    const shape = [1, 1, 1, 1].with(place, 0).map((dim, i) => (i === place ? size : dim));
    const numbers = graph.reshape(graph.cast(graph.count(size), x.dtype), shape);
    return graph.mul(numbers, factor);
  };
  const window = count(w.shape[axis + 2] ?? 1, dilations[axis] ?? 1, axis);
  const start = count(output.shape[axis + 2] ?? 1, strides[axis] ?? 1, axis + 2);
  const pad = graph.size([begins[axis] ?? 0], x.dtype);
  return graph.sub(graph.add(window, start), pad);
}

/** Transposed convolution of the cotangent by the same weights, and a convolution by it. */
const convolutionAdjoint: AdjointRule = ({ inputs, attributes, cotangent, wants, graph }) => {
  const [x, w] = inputs;
  if (x === undefined || w === undefined) return [];
  const window = windowLists(attributes, x.shape.length - 2);
  const { strides, dilations, begins, groups } = window;
  const image = (): ReturnType<typeof graph.call> =>
    graph.call('conv_transpose', [cotangent, w], {
      size: x.shape.slice(2),
      strides,
      dilations,
      pads: begins,
      groups,
    });
  return [
    wants(0) ? image() : undefined,
    wants(1)
      ? weightCotangent(graph, { image: x, result: cotangent, weights: w }, window)
      : undefined,
    wants(2) ? biasCotangent(graph, cotangent) : undefined,
  ];
};

/** A convolution of the cotangent by the same weights. */
const convTransposeAdjoint: AdjointRule = ({
  inputs,
  output,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
  const [x, w] = inputs;
  if (x === undefined || w === undefined) return [];
  const { dims } = graph;
  const given = windowLists(attributes, x.shape.length - 2);
  const sizes = x.shape.slice(2);
  // So much padding that every element of x has its window.
  const ends = sizes.map((size, axis) => {
    const last = dims.mul(dims.sub(size, 1), given.strides[axis] ?? 1);
    const reach = dims.mul(dims.sub(w.shape[axis + 2] ?? 1, 1), given.dilations[axis] ?? 1);
    const inside = dims.add(output.shape[axis + 2] ?? 1, given.begins[axis] ?? 0);
    return dims.max(dims.sub(dims.add(dims.add(last, reach), 1), inside), 0);
  });
  const window = { ...given, ends };
  const image = () => {
    let found = convolve(graph, [cotangent, w], window);
    for (const [axis, size] of sizes.entries()) {
      found = graph.sliceAxis(found, axis + 2, { to: size });
    }
    return found;
  };
  const weights = () => weightCotangent(graph, { image: cotangent, result: x, weights: w }, window);
  return [
    wants(0) ? image() : undefined,
    wants(1) ? weights() : undefined,
    wants(2) ? biasCotangent(graph, cotangent) : undefined,
  ];
};

export const CONVOLUTION_ADJOINTS = {
  conv2d: convolutionAdjoint,
  conv3d: convolutionAdjoint,
  conv_transpose: convTransposeAdjoint,
  deform_conv: deformConvAdjoint,
  max_roi_pool: maxRoiPoolAdjoint,
  max_pool: maxPoolAdjoint,
  max_pool_indices: 'discrete',
  avg_pool: sumPoolAdjoint(true),
  sum_pool: sumPoolAdjoint(false),
  global_max_pool: globalPoolAdjoint('reduce_max'),
  global_avg_pool: globalPoolAdjoint('reduce_mean'),
} satisfies Record<ConvolutionName, Adjoint>;
