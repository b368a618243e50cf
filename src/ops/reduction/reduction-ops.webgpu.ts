import type { Lowering } from '../lowering.ts';
import { lowerArgReduce } from './arg-reduce-lowering.ts';
import { lowerCumulative } from './cumulative-lowering.ts';
import { lowerReduce } from './reduce-lowering.ts';
import type { ReductionName } from './reduction-ops.ts';

export const REDUCTION_WEBGPU = {
  reduce_sum: lowerReduce('sum'),
  reduce_mean: lowerReduce('mean'),
  reduce_prod: lowerReduce('prod'),
  reduce_max: lowerReduce('max'),
  reduce_min: lowerReduce('min'),
  arg_max: lowerArgReduce('max'),
  arg_min: lowerArgReduce('min'),
  cumulative: lowerCumulative,
} satisfies Record<ReductionName, Lowering>;
