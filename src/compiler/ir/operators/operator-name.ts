import type { Expr } from '../expr.ts';

/** The name of the operator that an expression calls; empty for all else. */
export function operatorName(expr: Expr): string {
  return expr.kind === 'call' && expr.callee.kind === 'operator' ? expr.callee.name : '';
}
