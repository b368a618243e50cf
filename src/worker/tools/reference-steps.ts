import type { ExecutableData } from '../../bytecode/executable.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import { concreteShape } from '../../core/dims/dim.ts';
import type { ReferenceStep } from '../../device/device.ts';
import { concreteParams, planOnHost } from '../../device/host/host-plan.ts';
import { isPlanned } from '../../device/wasm/plan-step.ts';
import { loadDoubles } from '../../ops/formula/wasm/find-intrinsic.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { loadLowerings } from '../../ops/tables/wasm.ts';

/**
 * The steps of a program that have no WebAssembly, and run references on the device `wasm`, as far as sizes are
 * known. Primitives with operators that are not ours are left out.
 */
export async function referenceSteps({
  primitives,
}: Pick<ExecutableData, 'primitives'>): Promise<ReferenceStep[]> {
  const known = primitives.filter(({ body }) =>
    body.every(({ op }) => CORE_OPERATORS.get(op) !== undefined),
  );
  await Promise.all([
    loadLowerings(known.flatMap(({ body }) => body.map(({ op }) => op))),
    loadDoubles(),
  ]);
  return known.flatMap((primitive) => {
    const labels = returnsTensor(primitive)
      ? primitive.body.map(({ op }) => op)
      : (findReferences(primitive, CORE_OPERATORS) ?? []);
    return labels.map((label) => ({ primitive: primitive.name, label }));
  });
}

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
