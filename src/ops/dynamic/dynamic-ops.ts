import type { OpDefinition } from '../define-op.ts';
import { arange, axesLastIndices, dimsTensor } from './dims-tensor.ts';
import { nonzero } from './nonzero.ts';
import { range } from './range.ts';
import { SIZE_OPS } from './sizes.ts';
import { sliceIndices } from './slice-indices.ts';
import { uniqueCounts, uniqueIndices, uniqueInverse } from './unique.ts';

/** Operators between elements and sizes; they run on the host. */
export const DYNAMIC_OPS: readonly OpDefinition[] = [
  nonzero,
  uniqueIndices,
  uniqueCounts,
  uniqueInverse,
  range,
  ...SIZE_OPS,
  sliceIndices,
  dimsTensor,
  arange,
  axesLastIndices,
];
