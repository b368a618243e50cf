import type { Expr } from '../ir/expr.ts';
import { isGradientOperator } from '../ir/gradient-operators.ts';

/** Whether it is `gradient(@f)`: the symbols in its type are those of @f, and so its own. */
export function isDerivativeOfGlobal(expr: Expr): boolean {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return false;
  return isGradientOperator(expr.callee.name) && expr.args[0]?.kind === 'global';
}
