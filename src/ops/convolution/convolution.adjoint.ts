import type { AdjointRule, ExpandedCall } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { linearTaps, sampleBetween } from '../adjoint/sample-between.ts';
import { floatAttribute, intAttribute } from '../attributes.ts';
import { biasCotangent, convolve, weightCotangent, windowLists } from './window-adjoint.ts';

/** The largest of a row's elements in a cell, then the largest of the rows'. Corners are rounded. */
const expanded = byExpansion((call) => {
  const { inputs, output, graph } = call;
  const [x, rois] = inputs;
  if (x === undefined || rois === undefined) return output;
  const [images = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [regions = 1, , rows = 1, columns = 1] = output.shape;
  const last = graph.size([graph.dims.sub(images, 1)], rois.dtype);
  const limit = typeof last === 'number' ? graph.scalar(last, rois.dtype) : last;
  const first = graph.call('maximum', [graph.at(rois, 1, 0), graph.scalar(0, rois.dtype)]);
  const image = graph.cast(graph.call('minimum', [first, limit]), 'int64');
  const planes = graph.call('gather', [x, image], { axis: 0 });
  const across = insideCells(call, { axis: 0, size: width, cells: columns });
  const byColumn = largest(call, {
    values: graph.reshape(planes, [regions, channels, height, 1, width]),
    inside: graph.reshape(across, [regions, 1, 1, columns, width]),
  });
  const down = insideCells(call, { axis: 1, size: height, cells: rows });
  const found = largest(call, {
    values: graph.reshape(graph.transpose(byColumn, [0, 1, 3, 2]), [
      regions,
      channels,
      1,
      columns,
      height,
    ]),
    inside: graph.reshape(down, [regions, 1, rows, 1, height]),
  });
  // Cells without elements.
  return graph.where(graph.equal(found, Number.NEGATIVE_INFINITY), 0, found);
});

function largest(
  { graph }: ExpandedCall,
  { values, inside }: { readonly values: GraphTensor; readonly inside: GraphTensor },
): GraphTensor {
  const chosen = graph.where(inside, values, Number.NEGATIVE_INFINITY);
  return graph.call('reduce_max', [chosen], { axes: [chosen.shape.length - 1] });
}

interface CellAxis {
  /** 0 for columns, 1 for rows, as corners have them. */
  readonly axis: number;
  readonly size: GraphTensor['shape'][number];
  readonly cells: GraphTensor['shape'][number];
}

/** The condition that an element of an axis lies in a cell of a region: (regions, cells, size). */
function insideCells({ inputs, attributes, graph }: ExpandedCall, axis: CellAxis): GraphTensor {
  const [, rois] = inputs;
  if (rois === undefined) throw new Error('internal: no regions');
  const { dtype } = rois;
  const scale = floatAttribute(attributes, 'scale');
  // Halves away from zero.
  const corner = (index: number): GraphTensor => {
    const at = graph.mul(graph.at(rois, 1, index), scale);
    const size = graph.unary('floor', graph.add(graph.unary('abs', at), 0.5));
    return graph.reshape(graph.mul(graph.unary('sign', at), size), [rois.shape[0] ?? 1, 1, 1]);
  };
  const [low, high] = [corner(1 + axis.axis), corner(3 + axis.axis)];
  const one = graph.scalar(1, dtype);
  const extent = graph.call('maximum', [graph.add(graph.sub(high, low), 1), one]);
  const numbers = (size: CellAxis['size'], shape: readonly CellAxis['size'][]): GraphTensor =>
    graph.reshape(graph.cast(graph.count(size), dtype), shape);
  const cell = numbers(axis.cells, [1, axis.cells, 1]);
  const count = graph.size([axis.cells], dtype);
  const bound = (index: GraphTensor, rounding: string): GraphTensor =>
    graph.add(graph.unary(rounding, graph.div(graph.mul(index, extent), count)), low);
  const [begin, end] = [bound(cell, 'floor'), bound(graph.add(cell, 1), 'ceil')];
  const place = numbers(axis.size, [1, 1, axis.size]);
  const isAfter = graph.lessEqual(begin, place);
  return graph.where(isAfter, graph.less(place, end), isAfter);
}

export const maxRoiPoolAdjoint: AdjointRule = (call) => {
  const wants = (input: number): boolean => input === 0 && call.wants(0);
  return expanded({ ...call, wants });
};

/** Samples of the image for each tap of each window, and a product with the weights. */
export const deformConvAdjoint = byExpansion((call) => {
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
export const convolutionAdjoint: AdjointRule = ({
  inputs,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
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
export const convTransposeAdjoint: AdjointRule = ({
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
