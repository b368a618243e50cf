import type { Adjoint } from '../adjoint/adjoint.ts';
import { cumulativeAdjoint } from './cumulative.adjoint.ts';
import { reduceAdjoint } from './reduce.adjoint.ts';
import type { ReductionName } from './reduction-ops.ts';

export const REDUCTION_ADJOINTS = {
  reduce_sum: reduceAdjoint('sum'),
  reduce_mean: reduceAdjoint('mean'),
  reduce_prod: reduceAdjoint('prod'),
  reduce_max: reduceAdjoint('max'),
  reduce_min: reduceAdjoint('min'),
  arg_max: 'discrete',
  arg_min: 'discrete',
  cumulative: cumulativeAdjoint,
} satisfies Record<ReductionName, Adjoint>;
