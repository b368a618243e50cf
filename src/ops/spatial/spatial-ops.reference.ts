import type { OpReference } from '../op-reference.ts';
import { resampleReference } from './resample.reference.ts';
import { repeatReference } from './repeat.reference.ts';
import { gridSampleReference } from './grid-sample.reference.ts';
import { roiAlignReference } from './roi-align.reference.ts';
import type { SpatialName } from './spatial-ops.ts';

export const SPATIAL_REFERENCES = {
  resample: resampleReference,
  repeat: repeatReference,
  grid_sample: gridSampleReference,
  roi_align: roiAlignReference,
} satisfies Record<SpatialName, OpReference>;
