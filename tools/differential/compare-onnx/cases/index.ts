import type { CaseTable } from '../node-case.ts';
import { EDGE_CASES } from './edges.ts';
import { ELEMENTWISE_CASES } from './elementwise.ts';
import { LARGE_CASES } from './large.ts';
import { LINEAR_CASES } from './linear.ts';
import { MICROSOFT_CASES } from './microsoft.ts';
import { MICROSOFT_MODEL_CASES } from './microsoft-models.ts';
import { MOVEMENT_CASES } from './movement.ts';
import { OTHER_CASES } from './other.ts';
import { REDUCTION_CASES } from './reduction.ts';
import { REGION_CASES } from './regions.ts';
import { SIGNAL_CASES } from './signal.ts';
import { SPATIAL_CASES } from './spatial.ts';
import { STATE_CASES } from './state.ts';

/** A generator of cases for each operator. */
export const CASES: CaseTable = {
  ...EDGE_CASES,
  ...ELEMENTWISE_CASES,
  ...LARGE_CASES,
  ...LINEAR_CASES,
  ...MICROSOFT_CASES,
  ...MICROSOFT_MODEL_CASES,
  ...MOVEMENT_CASES,
  ...OTHER_CASES,
  ...REDUCTION_CASES,
  ...REGION_CASES,
  ...SIGNAL_CASES,
  ...SPATIAL_CASES,
  ...STATE_CASES,
};
