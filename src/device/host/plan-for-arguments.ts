import { internalError, ShapeError } from '../../core/errors.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { sameShape } from '../../core/tensor/shape.ts';
import { formatType } from '../../ops/operand-checks.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { type HostPlan, planOnHost } from './host-plan.ts';

/**
 * The plan of a launch with arguments of these types, those of destinations last. Throws ShapeError where
 * a result does not have the shape of its destination.
 */
export function planForArguments(
  primitive: PrimitiveFunction,
  types: readonly ConcreteTensorType[],
  operators: OperatorTable,
): HostPlan {
  const { name, params, results } = primitive;
  if (types.length !== params.length + results.length) {
    throw internalError(
      `${name} was called with ${types.length} tensors instead of ` +
        `${params.length} and ${results.length}`,
    );
  }
  const targets = types.slice(params.length);
  const shapes = targets.map(({ shape }) => shape);
  const plan = planOnHost(primitive, types.slice(0, params.length), { operators, results: shapes });
  for (const [i, { value }] of results.entries()) {
    const [target, type] = [targets[i], plan.types[value]];
    if (target === undefined || type === undefined) {
      throw internalError(`${name} has no destination for result ${i}`);
    }
    if (sameShape(target.shape, type.shape)) continue;
    throw new ShapeError({
      where: `kernel ${name}, result ${i}`,
      got: formatType(type),
      expected: `${formatType(target)}, that of the destination`,
    });
  }
  return plan;
}

/** Returns true if the arguments have exactly the types of a kept plan. */
export function haveTypes(
  args: readonly ConcreteTensorType[],
  types: readonly ConcreteTensorType[],
): boolean {
  if (args.length !== types.length) return false;
  for (let i = 0; i < args.length; i++) {
    const [arg, type] = [args[i], types[i]];
    if (arg === undefined || type === undefined || arg.dtype !== type.dtype) return false;
    if (arg.shape !== type.shape && !sameShape(arg.shape, type.shape)) return false;
  }
  return true;
}
