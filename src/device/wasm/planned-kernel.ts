import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import type { HostPlan } from '../host/host-plan.ts';
import type { StepPlan } from './step-plan.ts';

/** A primitive for certain shapes, before its code is compiled. */
export interface PlannedKernel {
  /** Types of the parameters, then of the results. */
  readonly types: readonly ConcreteTensorType[];
  readonly plan: HostPlan;
  /** Undefined for steps that references do. */
  readonly steps: readonly (StepPlan | undefined)[];
}
