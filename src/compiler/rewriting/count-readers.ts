import type { Expr } from '../ir/expr.ts';
import { childrenOf, postOrder } from '../ir/walk/visit.ts';

/** How often each node below an expression is read. */
export function countReaders(root: Expr): ReadonlyMap<Expr, number> {
  const counts = new Map<Expr, number>();
  for (const expr of postOrder(root)) {
    for (const child of childrenOf(expr)) counts.set(child, (counts.get(child) ?? 0) + 1);
  }
  return counts;
}
