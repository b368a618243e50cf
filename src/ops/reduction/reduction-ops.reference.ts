import type { OpReference } from '../op-reference.ts';
import { REDUCE_REFERENCES } from './reduce.reference.ts';
import { ARG_REDUCE_REFERENCES } from './arg-reduce.reference.ts';
import { cumulativeReference } from './cumulative.reference.ts';
import type { ReductionName } from './reduction-ops.ts';

export const REDUCTION_REFERENCES = {
  ...REDUCE_REFERENCES,
  ...ARG_REDUCE_REFERENCES,
  cumulative: cumulativeReference,
} satisfies Record<ReductionName, OpReference>;
