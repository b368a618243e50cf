import type { Expr, Module } from '../ir/expr.ts';
import { KILL } from '../ir/machine-operators.ts';
import { isUnplaced } from '../ir/place.ts';
import { FLOAT } from '../ir/scalar-operators.ts';
import { postOrder } from '../ir/visit.ts';

/** Operators whose calls cannot fail. */
const SAFE: ReadonlySet<string> = new Set([KILL, FLOAT]);

/**
 * The first expression that can fail when the program runs and has no place in a source, with the global
 * function it stands in; undefined when there is none.
 */
export function unplacedExpression(
  module: Module,
): { readonly name: string; readonly expr: Expr } | undefined {
  for (const [name, { body }] of module.functions) {
    const expr = postOrder(body).find((inner) => isUnplaced(inner) && !isSafe(inner));
    if (expr !== undefined) return { name, expr };
  }
  return undefined;
}

function isSafe(expr: Expr): boolean {
  return expr.kind === 'call' && expr.callee.kind === 'operator' && SAFE.has(expr.callee.name);
}
