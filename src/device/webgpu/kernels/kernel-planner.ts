import type {
  LaunchPlan,
  PlannerCaps,
  VariantChoices,
} from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import type { TunedChoice } from '../../device.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import { plan, supports } from '../planner/plan.ts';

/** A planner, as the device uses it. Tests put their own shaders in its place. */
export interface KernelPlanner {
  /** Why a primitive cannot run here; undefined when it can. */
  refusal(primitive: PrimitiveFunction): string | undefined;
  /**
   * Pure but for `measured`: equal arguments give equal plans. `choices` takes the place of what was
   * measured. Throws UnsupportedError.
   */
  plan(primitive: PrimitiveFunction, shapes: CallShapes, choices?: VariantChoices): LaunchPlan;
  /** Absent where there is nothing to choose. */
  readonly operators?: OperatorTable;
  /** Choices that were faster than the first one. */
  measured?: MeasuredChoices | undefined;
}

export interface MeasuredChoices {
  /** The plan for a call that would have this one without choices. */
  improve(first: LaunchPlan, planWith: (choices: VariantChoices) => LaunchPlan): LaunchPlan;
  /** Choices that were measured on this device, without those that it was given. */
  entries(): readonly TunedChoice[];
}

/** The planner for an adapter and a set of operators. */
export function kernelPlanner(caps: PlannerCaps, operators: OperatorTable): KernelPlanner {
  const planner: KernelPlanner = {
    operators,
    refusal: (primitive) => supports(primitive, operators),
    plan(primitive, shapes, choices) {
      const planWith = (given: VariantChoices | undefined) =>
        plan(primitive, shapes, { caps: given ? { ...caps, choices: given } : caps, operators });
      const first = planWith(choices);
      return choices ? first : (planner.measured?.improve(first, planWith) ?? first);
    },
  };
  return planner;
}
