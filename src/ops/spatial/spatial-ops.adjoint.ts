import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import { intsAttribute } from '../attributes.ts';
import { gridSampleAdjoint } from './grid-sample.adjoint.ts';
import { resampleAdjoint } from './resample.adjoint.ts';
import { roiAlignAdjoint } from './roi-align.adjoint.ts';
import type { SpatialName } from './spatial-ops.ts';

const repeatAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const repeats = intsAttribute(attributes, 'repeats');
  const split = x.shape.flatMap((dim, axis) => [dim, repeats[axis] ?? 1]);
  const axes = x.shape.map((_, axis) => 2 * axis + 1);
  const sums = graph.sum(graph.reshape(cotangent, split), axes);
  return [graph.reshape(sums, x.shape)];
};

export const SPATIAL_ADJOINTS = {
  resample: resampleAdjoint,
  repeat: repeatAdjoint,
  grid_sample: gridSampleAdjoint,
  roi_align: roiAlignAdjoint,
} satisfies Record<SpatialName, Adjoint>;
