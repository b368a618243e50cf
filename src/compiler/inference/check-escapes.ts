import type { Expr, FunctionExpr } from '../ir/expr.ts';
import { formatType, type Type } from '../ir/type.ts';
import { bindersOf, childrenOf, postOrder } from '../ir/visit.ts';

export interface Escape {
  readonly at: Expr;
  /** The type parameter, outside of the function that binds it. */
  readonly name: string;
  readonly type: string;
}

/**
 * The first types that mention a parameter of a polymorphic function inside, where it has no meaning: the
 * function was used to find out the type of something around it. For a function after inference.
 */
export function escapesOf(fn: FunctionExpr): Escape[] {
  const escapes: Escape[] = [];
  const isNested = (expr: Expr): boolean =>
    expr !== fn && expr.kind === 'function' && (expr.typeParams?.length ?? 0) > 0;
  if (!postOrder(fn).some(isNested)) return escapes;
  const seen = new Set<Expr>();
  const stack: { expr: Expr; scope: ReadonlySet<string> }[] = [{ expr: fn, scope: new Set() }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { expr, scope } = top;
    if (seen.has(expr)) continue;
    seen.add(expr);
    const inner =
      expr.kind === 'function' ? new Set([...scope, ...(expr.typeParams ?? [])]) : scope;
    for (const type of typesIn(expr)) {
      const name = freeTypeVar(type, inner);
      if (name === undefined || escapes.some((escape) => escape.name === name)) continue;
      escapes.push({ at: expr, name, type: formatType(type) });
    }
    for (const child of childrenOf(expr)) stack.push({ expr: child, scope: inner });
  }
  return escapes;
}

function typesIn(expr: Expr): readonly Type[] {
  const types = bindersOf(expr).flatMap(({ type }) => (type === undefined ? [] : [type]));
  if (expr.kind === 'call') types.push(...(expr.typeArguments ?? []));
  if (expr.kind === 'function' && expr.resultType !== undefined) types.push(expr.resultType);
  return types;
}

function freeTypeVar(type: Type, scope: ReadonlySet<string>): string | undefined {
  const first = (types: readonly Type[], inner: ReadonlySet<string>): string | undefined => {
    for (const part of types) {
      const name = freeTypeVar(part, inner);
      if (name !== undefined) return name;
    }
    return undefined;
  };
  switch (type.kind) {
    case 'tensor':
    case 'scalar':
      return undefined;
    case 'type-var':
      return scope.has(type.name) ? undefined : type.name;
    case 'tuple':
      return first(type.fields, scope);
    case 'adt':
      return first(type.args, scope);
    case 'function':
      return first([...type.params, type.result], new Set([...scope, ...(type.typeParams ?? [])]));
    default:
      return type satisfies never;
  }
}
