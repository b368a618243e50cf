import type { Expr, VarExpr } from '../expr.ts';
import { bindersOf, postOrder } from './visit.ts';

/** Variables that an expression reads and does not bind, each once. */
export function freeVariables(root: Expr): readonly VarExpr[] {
  const order = postOrder(root);
  const bound = new Set<Expr>(order.flatMap(bindersOf));
  return order.filter((expr): expr is VarExpr => expr.kind === 'var' && !bound.has(expr));
}
