import type { OpCases } from '../op-cases.ts';
import { nonzeroCases } from './nonzero.cases.ts';
import { nonMaxSuppressionCases } from './non-max-suppression.cases.ts';
import { uniqueIndicesCases, uniqueCountsCases, uniqueInverseCases } from './unique.cases.ts';
import { rangeCases } from './range.cases.ts';
import { melWeightsCases } from './mel-weights.cases.ts';
import { SIZE_CASES } from './sizes.cases.ts';
import { sliceIndicesCases } from './slice-indices.cases.ts';
import { dimsTensorCases, arangeCases } from './dims-tensor.cases.ts';
import { resizeTableCases } from '../spatial/resize-table.cases.ts';
import { twiddlesCases } from '../signal/twiddles.cases.ts';
import type { DynamicName } from './dynamic-ops.ts';

export const DYNAMIC_CASES = {
  nonzero: nonzeroCases,
  non_max_suppression: nonMaxSuppressionCases,
  unique_indices: uniqueIndicesCases,
  unique_counts: uniqueCountsCases,
  unique_inverse: uniqueInverseCases,
  range: rangeCases,
  mel_weights: melWeightsCases,
  ...SIZE_CASES,
  slice_indices: sliceIndicesCases,
  dims_tensor: dimsTensorCases,
  arange: arangeCases,
  resize_table: resizeTableCases,
  twiddles: twiddlesCases,
} satisfies Record<DynamicName, OpCases>;
