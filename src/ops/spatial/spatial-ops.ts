import type { OpDefinition } from '../define-op.ts';
import { resample } from './resample.ts';
import { resizeTable } from './resize-table.ts';

export const SPATIAL_OPS: readonly OpDefinition[] = [resizeTable, resample];
