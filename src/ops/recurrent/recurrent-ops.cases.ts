import type { OpCases } from '../op-cases.ts';
import { recurrentCases } from './recurrent.cases.ts';
import type { RecurrentName } from './recurrent-ops.ts';

export const RECURRENT_CASES = {
  recurrent: recurrentCases,
} satisfies Record<RecurrentName, OpCases>;
