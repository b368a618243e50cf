import type { OpCases } from '../op-cases.ts';
import { resampleCases } from './resample.cases.ts';
import { repeatCases } from './repeat.cases.ts';
import { gridSampleCases } from './grid-sample.cases.ts';
import { roiAlignCases } from './roi-align.cases.ts';
import type { SpatialName } from './spatial-ops.ts';

export const SPATIAL_CASES = {
  resample: resampleCases,
  repeat: repeatCases,
  grid_sample: gridSampleCases,
  roi_align: roiAlignCases,
} satisfies Record<SpatialName, OpCases>;
