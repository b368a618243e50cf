import { ARG_REDUCE_OPS } from './arg-reduce.ts';
import { cumulative } from './cumulative.ts';
import { REDUCE_OPS } from './reduce.ts';

export const REDUCTION_OPS = [...REDUCE_OPS, ...ARG_REDUCE_OPS, cumulative] as const;

export type ReductionName = (typeof REDUCTION_OPS)[number]['name'];
