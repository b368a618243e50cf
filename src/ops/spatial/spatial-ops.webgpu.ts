import type { Lowering } from '../lowering.ts';
import { lowerGridSample } from './grid-sample-lowering.ts';
import { lowerResample } from './resample-lowering.ts';
import { lowerRoiAlign } from './roi-align-lowering.ts';
import type { SpatialName } from './spatial-ops.ts';

export const SPATIAL_WEBGPU = {
  resample: lowerResample,
  grid_sample: lowerGridSample,
  roi_align: lowerRoiAlign,
} satisfies Partial<Record<SpatialName, Lowering>>;
