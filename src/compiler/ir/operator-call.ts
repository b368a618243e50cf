import type { CallExpr, Expr } from './expr.ts';

/** The expression, if it calls this operator. */
export function operatorCall(expr: Expr | undefined, op: string): CallExpr | undefined {
  const isCall = expr?.kind === 'call' && expr.callee.kind === 'operator';
  return isCall && expr.callee.name === op ? expr : undefined;
}

/** The call of this operator that the expression is; undefined for others. */
export function argsOf(expr: Expr | undefined, op: string): readonly Expr[] {
  return operatorCall(expr, op)?.args ?? [];
}

export function spanOfCall(expr: Expr): CallExpr['span'] {
  return expr.kind === 'call' ? expr.span : undefined;
}
