import { DYNAMIC_CASES } from '../../../ops/dynamic/dynamic-ops.cases.ts';
import { TESTED_OPS, type TestedOp } from '../../../ops/testing/tested-ops.ts';
import { ELEMENT_COUNT_OPS } from '../../testing/element-count-ops.ts';
import { FLOAT16_OPS } from '../../testing/float16-ops.ts';
import { ROW_BLOCK_OPS } from '../../testing/row-block-ops.ts';
import { SPECIAL_VALUE_OPS } from '../../testing/special-value-ops.ts';

/** Operators whose results have shapes that launches cannot know. */
const OF_ELEMENTS = new Set(Object.keys(DYNAMIC_CASES));

/** All others, also with the cases that devices are tested with. */
export const OPERATORS_ON_WASM: readonly TestedOp[] = [
  ...[...TESTED_OPS.values()].filter(({ name }) => !OF_ELEMENTS.has(name)),
  ...ELEMENT_COUNT_OPS,
  ...FLOAT16_OPS,
  ...ROW_BLOCK_OPS,
  ...SPECIAL_VALUE_OPS,
];
