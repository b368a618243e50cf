import type { Expr } from './ir/expr.ts';
import { childrenOf, postOrder } from './ir/visit.ts';

/** One expression in order of evaluation. */
export interface ScheduledExpr {
  readonly expr: Expr;
  /** Values that nothing reads after this expression, in the order in which they were made. */
  readonly dying: readonly Expr[];
}

/**
 * The order in which a function body is evaluated, and after which step each value is dead. The
 * result of the body is never dead, and neither is what it holds: constants and the callees of
 * calls are no values of registers, and a field of a tuple lives as long as the tuple.
 */
export function scheduleBody(body: Expr): ScheduledExpr[] {
  const order = postOrder(body, (expr) => expr.kind !== 'function').filter(isValue);
  const lastUse = new Map<Expr, number>();
  for (const [index, expr] of order.entries()) {
    for (const child of childrenOf(expr)) if (isValue(child)) lastUse.set(child, index);
  }
  const dying: Expr[][] = order.map(() => []);
  for (const [index, expr] of order.entries()) {
    if (expr === body) continue;
    dying[lastUse.get(expr) ?? index]?.push(expr);
  }
  return order.map((expr, index) => ({ expr, dying: dying[index] ?? [] }));
}

function isValue(expr: Expr): boolean {
  return expr.kind !== 'constant' && expr.kind !== 'operator' && expr.kind !== 'function';
}
