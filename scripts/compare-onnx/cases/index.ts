import type { CaseTable } from '../node-case.ts';
import { ELEMENTWISE_CASES } from './elementwise.ts';
import { LINEAR_CASES } from './linear.ts';
import { MOVEMENT_CASES } from './movement.ts';
import { REDUCTION_CASES } from './reduction.ts';
import { SPATIAL_CASES } from './spatial.ts';

/** A generator of cases for each operator. */
export const CASES: CaseTable = {
  ...ELEMENTWISE_CASES,
  ...LINEAR_CASES,
  ...MOVEMENT_CASES,
  ...REDUCTION_CASES,
  ...SPATIAL_CASES,
};
