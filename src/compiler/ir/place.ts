import { type Expr, type FunctionExpr, type Span, spanOf } from './expr.ts';
import { postOrder } from './walk/visit.ts';

/** The expression with a place in the source, if it can fail and has none: a call, an `if` or a `match`. */
export function withPlace<T extends Expr>(expr: T, span: Span | undefined): T {
  return span !== undefined && isUnplaced(expr) ? { ...expr, span } : expr;
}

/**
 * Returns true for an expression that can fail when the program runs, and has no place in the
 * source.
 */
export function isUnplaced(expr: Expr): boolean {
  const canFail = expr.kind === 'call' || expr.kind === 'if' || expr.kind === 'match';
  return canFail && expr.span === undefined;
}

/** The place of a function: its own, else that of a parameter or of the first thing in its body that has one. */
export function placeOfFunction({ span, params, body }: FunctionExpr): Span | undefined {
  if (span !== undefined) return span;
  const param = params.find((one) => one.span !== undefined);
  if (param !== undefined) return param.span;
  // Functions inside have places of their own.
  const inside = postOrder(body, (expr) => expr.kind !== 'function');
  const first = inside.find((expr) => spanOf(expr) !== undefined);
  return first && spanOf(first);
}
