import type { Expr } from '../ir/expr.ts';
import { isGradientOperator } from '../ir/operators/gradient-operators.ts';

/**
 * Returns true for the derivative of a global function, such as `gradient(@f)`: its type has the
 * symbols of @f, which are its own.
 */
export function isDerivativeOfGlobal(expr: Expr): boolean {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return false;
  return isGradientOperator(expr.callee.name) && expr.args[0]?.kind === 'global';
}
