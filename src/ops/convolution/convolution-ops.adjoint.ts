import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { deformConvAdjoint } from './deform-conv.adjoint.ts';
import { maxRoiPoolAdjoint } from './max-roi-pool.adjoint.ts';
import { globalPoolAdjoint, maxPoolAdjoint, sumPoolAdjoint } from './pool.adjoint.ts';
import { biasCotangent, convolve, weightCotangent, windowLists } from './window-adjoint.ts';

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
