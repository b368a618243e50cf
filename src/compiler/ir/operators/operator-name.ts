import type { CallExpr, Expr, OperatorExpr } from '../expr.ts';

export type OperatorCall = CallExpr & { readonly callee: OperatorExpr };

export function isOperatorCall(expr: Expr): expr is OperatorCall {
  return expr.kind === 'call' && expr.callee.kind === 'operator';
}

/** The name of the operator that an expression calls; empty for all else. */
export function operatorName(expr: Expr): string {
  return isOperatorCall(expr) ? expr.callee.name : '';
}
