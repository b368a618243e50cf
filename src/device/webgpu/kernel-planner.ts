import type { LaunchPlan, PlannerCaps } from '../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import { type CallShapes, type Operators, plan, supports } from './planner/plan.ts';

/** What the device asks of a planner. Tests put their own shaders in its place. */
export interface KernelPlanner {
  /** Why a primitive cannot run here; undefined when it can. */
  refusal(primitive: PrimitiveFunction): string | undefined;
  /** Pure: equal arguments give equal plans. Throws UnsupportedError. */
  plan(primitive: PrimitiveFunction, shapes: CallShapes): LaunchPlan;
}

/** The planner for an adapter and a set of operators. */
export function kernelPlanner(caps: PlannerCaps, operators: Operators): KernelPlanner {
  const target = { caps, operators };
  return {
    refusal: (primitive) => supports(primitive, operators),
    plan: (primitive, shapes) => plan(primitive, shapes, target),
  };
}
