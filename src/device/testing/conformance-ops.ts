import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import { type TestedOp, withCases } from '../../ops/testing/tested-ops.ts';
import { ELEMENT_COUNT_OPS } from './element-count-ops.ts';
import { FLOAT16_OPS } from './float16-ops.ts';
import { ROW_BLOCK_OPS } from './row-block-ops.ts';
import { SPECIAL_VALUE_OPS } from './special-value-ops.ts';

/** Operators with the cases that every engine has to give the results of, some more than once. */
export const CONFORMANCE_OPS: readonly TestedOp[] = [
  ...[...KERNEL_OPS.values()].map(withCases),
  ...SPECIAL_VALUE_OPS,
  ...ROW_BLOCK_OPS,
  ...ELEMENT_COUNT_OPS,
  ...FLOAT16_OPS,
];
