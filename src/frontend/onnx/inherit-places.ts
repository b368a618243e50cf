import { type Expr, type FunctionExpr, type Span, spanOf } from '../../compiler/ir/expr.ts';
import { placeOfFunction, withPlace } from '../../compiler/ir/place.ts';
import { childrenOf, postOrder, rewrite } from '../../compiler/ir/visit.ts';

/**
 * The function with a place for all that can fail in it: what an importer has made without one, such as arithmetic
 * on sizes, is there for the node that reads it first.
 */
export function inheritPlaces(fn: FunctionExpr): FunctionExpr {
  const places = new Map<Expr, Span>();
  const fallback = placeOfFunction(fn);
  if (fallback !== undefined) places.set(fn, fallback);
  // Readers come before what they read, the last ones first.
  for (const expr of postOrder(fn).toReversed()) {
    const own = spanOf(expr) ?? places.get(expr);
    for (const child of childrenOf(expr)) {
      const bound = expr.kind === 'let' && child === expr.value ? expr.variable.span : undefined;
      const place = bound ?? own;
      if (place !== undefined) places.set(child, place);
    }
  }
  const placed = rewrite(fn, (expr, original) => withPlace(expr, places.get(original)));
  return placed.kind === 'function' ? placed : fn;
}
