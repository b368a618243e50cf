import type { OpReference } from '../op-reference.ts';
import { resampleReference } from './resample.reference.ts';
import { gridSampleReference } from './grid-sample.reference.ts';
import { roiAlignReference } from './roi-align.reference.ts';
import type { SpatialName } from './spatial-ops.ts';

/**
 * References of the spatial operators, without `repeat`, whose reference follows from its index
 * map.
 */
export const SPATIAL_REFERENCES = {
  resample: resampleReference,
  grid_sample: gridSampleReference,
  roi_align: roiAlignReference,
} satisfies Record<Exclude<SpatialName, 'repeat'>, OpReference>;
