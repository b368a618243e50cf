import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Expr, MatchExpr } from '../../ir/expr.ts';
import { type Type, withParts } from '../../ir/type.ts';
import { bindersOf } from '../../ir/walk/visit.ts';
import { symbolsOfType } from './gather-dim-facts.ts';

/**
 * The type of a match for the code around it: `?` for sizes that its patterns name, which mean nothing there.
 * Sizes that the type of the matched value mentions have their names around the match already.
 */
export function forgetPatternSizes(type: Type, match: MatchExpr, value: Type): Type {
  if (symbolsOfType(type).size === 0) return type;
  const around = symbolsOfType(value);
  const named = new Set(
    bindersOf(match).flatMap((variable) =>
      variable.type === undefined ? [] : [...symbolsOfType(variable.type)],
    ),
  );
  for (const symbol of around) named.delete(symbol);
  return forgetSizes(type, named);
}

/**
 * The type of branches for the code around them: `?` for sizes that lets of a branch name. A symbol that the value of
 * the let has already comes from around the branch.
 */
export function forgetBranchSizes(
  type: Type,
  branches: readonly Expr[],
  typeOf: (expr: Expr) => Type,
): Type {
  const symbols = symbolsOfType(type);
  if (symbols.size === 0) return type;
  const named = new Set<string>();
  for (const branch of branches) {
    for (let at = branch; at.kind === 'let'; at = at.body) {
      const own = at.variable.type;
      if (own?.kind !== 'tensor') continue;
      const given = symbolsOfType(typeOf(at.value));
      for (const symbol of symbolsOfType(own)) {
        if (symbols.has(symbol) && !given.has(symbol)) named.add(symbol);
      }
    }
  }
  return forgetSizes(type, named);
}

/** The type with `?` for dimensions that mention one of these symbols. */
export function forgetSizes(type: Type, named: ReadonlySet<string>): Type {
  if (named.size === 0) return type;
  const mentions = (dim: Dim): boolean => {
    let found = false;
    forEachSymbol(dim, (symbol) => {
      found ||= named.has(symbol);
    });
    return found;
  };
  if (type.kind !== 'tensor') return withParts(type, (part) => forgetSizes(part, named));
  return { ...type, shape: type.shape.map((dim) => (mentions(dim) ? '?' : dim)) };
}
