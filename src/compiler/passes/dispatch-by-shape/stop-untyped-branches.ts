import { forEachSymbol } from '../../../core/dim-symbols.ts';
import type { Dim } from '../../../core/dim.ts';
import { ShapeError, TypeCheckError, type WeftError } from '../../../core/errors.ts';
import { stopOf } from '../../ir/build.ts';
import type { Expr, FunctionExpr, IfExpr } from '../../ir/expr.ts';
import { withPlace } from '../../ir/place.ts';
import type { Type } from '../../ir/type.ts';
import { bindersOf, postOrder, rewrite } from '../../ir/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';

/**
 * A function in which sizes have become numbers, with a stop in the place of each branch that does not
 * fit them, as long as the other one does: a program that never takes the branch is right.
 */
export function stopUntypedBranches(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  if (!postOrder(fn.body).some(({ kind }) => kind === 'if')) return fn;
  const body = rewrite(fn.body, (expr) => (expr.kind === 'if' ? mended(expr, types) : expr));
  return body === fn.body ? fn : { ...fn, body };
}

function mended(expr: IfExpr, types: TypeInference): IfExpr {
  const [left, right] = [typeOf(expr.thenBranch, types), typeOf(expr.elseBranch, types)];
  if (isType(left) === isType(right)) return expr;
  if (isType(right)) {
    if (isType(left)) return expr;
    const stop = stopped(left, right, expr.elseBranch);
    return { ...expr, thenBranch: withPlace(stop, expr.span) };
  }
  if (!isType(left)) return expr;
  const stop = stopped(right, left, expr.thenBranch);
  return { ...expr, elseBranch: withPlace(stop, expr.span) };
}

function typeOf(branch: Expr, types: TypeInference): Type | WeftError {
  try {
    return types.of(branch);
  } catch (thrown) {
    if (thrown instanceof ShapeError || thrown instanceof TypeCheckError) return thrown;
    throw thrown;
  }
}

function isType(found: Type | WeftError): found is Type {
  return 'kind' in found;
}

/** A stop of the type of the other branch, of whose own names for sizes it knows nothing. */
function stopped(error: WeftError, type: Type, other: Expr): Expr {
  const own = new Set<string>();
  for (const expr of postOrder(other)) {
    for (const { type: bound } of bindersOf(expr)) {
      if (bound?.kind !== 'tensor') continue;
      for (const dim of bound.shape) forEachSymbol(dim, (symbol) => own.add(symbol));
    }
  }
  return stopOf(error, withoutSymbols(type, own));
}

function withoutSymbols(type: Type, symbols: ReadonlySet<string>): Type {
  if (type.kind === 'tuple') {
    return { ...type, fields: type.fields.map((field) => withoutSymbols(field, symbols)) };
  }
  if (type.kind !== 'tensor') return type;
  const shape = type.shape.map((dim): Dim => {
    let isOwn = false;
    forEachSymbol(dim, (symbol) => (isOwn ||= symbols.has(symbol)));
    return isOwn ? '?' : dim;
  });
  return { ...type, shape };
}
