import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../ops/operator.ts';

/** Returns true if a primitive calls an operator that is not in the table. */
export function lacksOperator(primitive: PrimitiveFunction, operators: OperatorTable): boolean {
  return primitive.body.some(({ op }) => operators.get(op) === undefined);
}

/** The remedy, as a line of a message. */
export const PASS_OPERATORS =
  'Pass the missing operators to createDevice, or to serve in a worker of your own.';
