import type { Expr, FunctionExpr, LetExpr } from '../expr.ts';
import { postOrder } from './visit.ts';

/** A let whose value is a function that calls itself by the variable. */
export interface RecursiveLet extends LetExpr {
  readonly value: FunctionExpr;
}

/** Those of an expression, the ones inside others first. */
export function recursiveLets(root: Expr): RecursiveLet[] {
  const order = postOrder(root);
  const lets = order.filter((expr): expr is RecursiveLet => isNamedFunction(expr));
  if (lets.length === 0) return [];
  const places = new Map(order.map((expr, index) => [expr, index]));
  // The value of a let is walked before its body, so that a variable comes first only where its own value reads it.
  return lets.filter(({ variable, value }) => {
    const [first, whole] = [places.get(variable), places.get(value)];
    return first !== undefined && whole !== undefined && first < whole;
  });
}

function isNamedFunction(expr: Expr): boolean {
  return expr.kind === 'let' && expr.value.kind === 'function';
}
