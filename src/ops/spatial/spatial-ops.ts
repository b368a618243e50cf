import type { OpDefinition } from '../define-op.ts';
import { gridSample } from './grid-sample.ts';
import { repeat } from './repeat.ts';
import { resample } from './resample.ts';
import { roiAlign } from './roi-align.ts';

export const SPATIAL_OPS: readonly OpDefinition[] = [resample, repeat, gridSample, roiAlign];
