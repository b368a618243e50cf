import {
  arange,
  dimsTensor,
  melWeights,
  nonMaxSuppression,
  nonzero,
  range,
} from '../dynamic/dynamic.ts';
import { SIZE_OPS } from '../dynamic/sizes.ts';
import { sliceIndices } from '../dynamic/slice-indices.ts';
import { uniqueCounts, uniqueIndices, uniqueInverse } from '../dynamic/unique.ts';
import type { Operator } from '../operator.ts';
import { Operators } from '../operators.ts';
import { twiddles } from '../signal/twiddles.ts';
import { resizeTable } from '../spatial/resize-table.ts';
import { KERNEL_OPS, type KernelOpName } from './kernel-ops.ts';

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

/** The name of an operator that Weft has. */
export type OpName = KernelOpName | (typeof DYNAMIC_OPS)[number]['name'];

/** The operators that Weft has. */
export const coreOperators: readonly Operator[] = [...KERNEL_OPS.values(), ...DYNAMIC_OPS].map(
  (op) => ({ ...op, reference: 'core' }),
);

/** The table of those alone: what compilers and the host take where nothing else is passed in. */
export const CORE_OPERATORS: Operators = new Operators(coreOperators);
