import type { OpReference } from '../op-reference.ts';
import { nonzeroReference } from './nonzero.reference.ts';
import { nonMaxSuppressionReference } from './non-max-suppression.reference.ts';
import {
  uniqueIndicesReference,
  uniqueCountsReference,
  uniqueInverseReference,
} from './unique.reference.ts';
import { rangeReference } from './range.reference.ts';
import { melWeightsReference } from './mel-weights.reference.ts';
import { SIZE_REFERENCES } from './sizes.reference.ts';
import { sliceIndicesReference } from './slice-indices.reference.ts';
import { dimsTensorReference, arangeReference } from './dims-tensor.reference.ts';
import { resizeTableReference } from '../spatial/resize-table.reference.ts';
import { twiddlesReference } from '../signal/twiddles.reference.ts';
import type { DynamicName } from './dynamic-ops.ts';

export const DYNAMIC_REFERENCES = {
  nonzero: nonzeroReference,
  non_max_suppression: nonMaxSuppressionReference,
  unique_indices: uniqueIndicesReference,
  unique_counts: uniqueCountsReference,
  unique_inverse: uniqueInverseReference,
  range: rangeReference,
  mel_weights: melWeightsReference,
  ...SIZE_REFERENCES,
  slice_indices: sliceIndicesReference,
  dims_tensor: dimsTensorReference,
  arange: arangeReference,
  resize_table: resizeTableReference,
  twiddles: twiddlesReference,
} satisfies Record<DynamicName, OpReference>;
