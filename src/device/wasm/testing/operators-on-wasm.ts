import { KERNEL_OPS } from '../../../ops/tables/kernel-ops.ts';
import { type TestedOp, withCases } from '../../../ops/testing/tested-ops.ts';
import { ELEMENT_COUNT_OPS } from '../../testing/element-count-ops.ts';
import { FLOAT16_OPS } from '../../testing/float16-ops.ts';
import { ROW_BLOCK_OPS } from '../../testing/row-block-ops.ts';
import { SPECIAL_VALUE_OPS } from '../../testing/special-value-ops.ts';

/** Operators whose launches can know the shapes of results, also with the cases that devices are tested with. */
export const OPERATORS_ON_WASM: readonly TestedOp[] = [
  ...[...KERNEL_OPS.values()].map(withCases),
  ...ELEMENT_COUNT_OPS,
  ...FLOAT16_OPS,
  ...ROW_BLOCK_OPS,
  ...SPECIAL_VALUE_OPS,
];
