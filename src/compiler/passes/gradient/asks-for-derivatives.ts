import type { CallExpr, Expr, Module } from '../../ir/expr.ts';
import { isGradientOperator, STOP_GRADIENT } from '../../ir/operators/gradient-operators.ts';
import { postOrder } from '../../ir/walk/visit.ts';

/** Returns true if a module has anything for the pass `gradient` to do. */
export function asksForDerivatives({ functions }: Module): boolean {
  return [...functions.values()].some(({ body }) => postOrder(body).some(isDerivative));
}

/** A call of `gradient` and its like, or a mark for them. */
export function isDerivative(expr: Expr): expr is CallExpr {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return false;
  return isGradientOperator(expr.callee.name) || expr.callee.name === STOP_GRADIENT;
}
