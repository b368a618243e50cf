import type { OpCases } from '../op-cases.ts';
import { REDUCE_CASES } from './reduce.cases.ts';
import { ARG_REDUCE_CASES } from './arg-reduce.cases.ts';
import { cumulativeCases } from './cumulative.cases.ts';
import type { ReductionName } from './reduction-ops.ts';

export const REDUCTION_CASES = {
  ...REDUCE_CASES,
  ...ARG_REDUCE_CASES,
  cumulative: cumulativeCases,
} satisfies Record<ReductionName, OpCases>;
