import { twiddles } from '../signal/twiddles.ts';
import { resizeTable } from '../spatial/resize-table.ts';
import { arange, dimsTensor } from './dims-tensor.ts';
import { melWeights } from './mel-weights.ts';
import { nonMaxSuppression } from './non-max-suppression.ts';
import { nonzero } from './nonzero.ts';
import { range } from './range.ts';
import { SIZE_OPS } from './sizes.ts';
import { sliceIndices } from './slice-indices.ts';
import { uniqueCounts, uniqueIndices, uniqueInverse } from './unique.ts';

/** Operators between elements and sizes, and tables that sizes tell; they run on the host. */
export const DYNAMIC_OPS = [
  nonzero,
  nonMaxSuppression,
  uniqueIndices,
  uniqueCounts,
  uniqueInverse,
  range,
  melWeights,
  ...SIZE_OPS,
  sliceIndices,
  dimsTensor,
  arange,
  resizeTable,
  twiddles,
] as const;

export type DynamicName = (typeof DYNAMIC_OPS)[number]['name'];
