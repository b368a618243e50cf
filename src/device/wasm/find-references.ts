import { concreteShape } from '../../core/dims/dim.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { concreteParams, planOnHost } from '../host/host-plan.ts';
import { isPlanned } from './plan-step.ts';

/**
 * The steps of a primitive function that have no WebAssembly and run references instead, by their labels.
 * Undefined where its shapes are known only at a launch.
 */
export function findReferences(
  primitive: PrimitiveFunction,
  operators: OperatorTable,
): readonly string[] | undefined {
  const params = concreteParams(primitive);
  if (params === undefined) return undefined;
  const results = primitive.results.map(({ type }) => concreteShape(type.shape) ?? []);
  const plan = planOnHost(primitive, params, { operators, results });
  return plan.steps.filter((step) => !isPlanned(step, plan)).map(({ label }) => label);
}
