import type { LaunchPlan, PlannerCaps, VariantChoices } from '../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import type { TunedChoice } from '../device.ts';
import { type CallShapes, type Operators, plan, supports } from './planner/plan.ts';

/** What the device asks of a planner. Tests put their own shaders in its place. */
export interface KernelPlanner {
  /** Why a primitive cannot run here; undefined when it can. */
  refusal(primitive: PrimitiveFunction): string | undefined;
  /**
   * Pure but for `measured`: equal arguments give equal plans. `choices` takes the place of what was
   * measured. Throws UnsupportedError.
   */
  plan(primitive: PrimitiveFunction, shapes: CallShapes, choices?: VariantChoices): LaunchPlan;
  /** Absent where there is nothing to choose. */
  readonly operators?: Operators;
  /** What was found to be faster than the first choice. */
  measured?: MeasuredChoices | undefined;
}

export interface MeasuredChoices {
  /** Those for a call that would have this plan without any; undefined for none. */
  for(first: LaunchPlan): VariantChoices | undefined;
  entries(): readonly TunedChoice[];
}

/** The planner for an adapter and a set of operators. */
export function kernelPlanner(caps: PlannerCaps, operators: Operators): KernelPlanner {
  const planner: KernelPlanner = {
    operators,
    refusal: (primitive) => supports(primitive, operators),
    plan(primitive, shapes, choices) {
      const planWith = (given: VariantChoices | undefined) =>
        plan(primitive, shapes, { caps: given ? { ...caps, choices: given } : caps, operators });
      const first = planWith(choices);
      const measured = choices ? undefined : planner.measured?.for(first);
      return measured ? planWith(measured) : first;
    },
  };
  return planner;
}
