import type { CaseTable } from '../node-case.ts';
import { ELEMENTWISE_CASES } from './elementwise.ts';
import { LINEAR_CASES } from './linear.ts';
import { MICROSOFT_CASES } from './microsoft.ts';
import { MOVEMENT_CASES } from './movement.ts';
import { OTHER_CASES } from './other.ts';
import { REDUCTION_CASES } from './reduction.ts';
import { SPATIAL_CASES } from './spatial.ts';

/** A generator of cases for each operator. */
export const CASES: CaseTable = {
  ...ELEMENTWISE_CASES,
  ...LINEAR_CASES,
  ...MICROSOFT_CASES,
  ...MOVEMENT_CASES,
  ...OTHER_CASES,
  ...REDUCTION_CASES,
  ...SPATIAL_CASES,
};
