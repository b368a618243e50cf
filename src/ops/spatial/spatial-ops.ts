import { gridSample } from './grid-sample.ts';
import { repeat } from './repeat.ts';
import { resample } from './resample.ts';
import { roiAlign } from './roi-align.ts';

export const SPATIAL_OPS = [resample, repeat, gridSample, roiAlign] as const;

export type SpatialName = (typeof SPATIAL_OPS)[number]['name'];
