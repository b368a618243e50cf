import { isAtom } from '../ir/atoms.ts';
import type { Expr, FunctionExpr, LetExpr, VarExpr } from '../ir/expr.ts';
import { Effects } from '../ir/effects.ts';
import { computeScopes } from '../ir/scopes.ts';
import type { Operators } from '../../ops/operators.ts';
import { childrenOf, mapFunctions, postOrder, rewrite } from '../ir/visit.ts';
import { DimNames, mentionedIn } from './dim-names.ts';
import type { Pass } from './pass.ts';

/**
 * Graph form: what a `let` binds becomes one shared node wherever that means the same. A `let` is
 * kept where it makes a difference: where all uses of the variable lie in a branch, a clause or a
 * function further in, in which the value would be computed instead; where its type gives a
 * name to a dimension that is unknown before; and where its value has effects. What else nothing refers to
 * goes.
 */
export const toGraph: Pass = {
  name: 'to-graph',
  run(module, { types: { operators } }) {
    const surroundings = { operators, effects: new Effects(module) };
    return mapFunctions(module, (fn) => inlineLets(dropDeadLets(fn, surroundings), surroundings));
  },
};

interface Surroundings {
  readonly operators: Operators;
  readonly effects: Effects;
}

function dropDeadLets(fn: FunctionExpr, surroundings: Surroundings): FunctionExpr {
  const live = liveVariables(fn, surroundings);
  return removeLets(fn, (expr) => !live.has(expr.variable));
}

/**
 * Variables that the result depends on; those of lets only if they are referred to, or a name that
 * they give to a dimension is, or their value has effects.
 */
function liveVariables(fn: FunctionExpr, { operators, effects }: Surroundings): ReadonlySet<Expr> {
  const values = new Map<Expr, Expr>();
  const naming = new Map<string, VarExpr>();
  const names = new DimNames(fn, operators);
  for (const expr of postOrder(fn.body)) {
    if (expr.kind !== 'let') continue;
    values.set(expr.variable, expr.value);
    for (const symbol of names.givenBy(expr)) naming.set(symbol, expr.variable);
  }
  const seen = new Set<Expr>();
  const stack: Expr[] = [];
  const visit = (expr: Expr | undefined): void => {
    if (expr === undefined || seen.has(expr)) return;
    seen.add(expr);
    stack.push(expr);
  };
  visit(fn.body);
  for (let expr = stack.pop(); expr !== undefined; expr = stack.pop()) {
    for (const symbol of mentionedIn(expr)) visit(naming.get(symbol));
    if (expr.kind === 'let') {
      if (effects.of(expr.value)) visit(expr.variable);
      visit(expr.body);
    } else if (expr.kind === 'var') visit(values.get(expr));
    else for (const child of childrenOf(expr)) visit(child);
  }
  return seen;
}

function inlineLets(fn: FunctionExpr, { operators, effects }: Surroundings): FunctionExpr {
  const scopes = computeScopes(fn);
  const names = new DimNames(fn, operators);
  return removeLets(fn, (expr) => {
    if (names.givenBy(expr).length > 0) return false;
    if (isAtom(expr.value)) return true;
    return !effects.of(expr.value) && scopes.of(expr.variable) === scopes.of(expr);
  });
}

/** Puts values in the place of the variables of some lets. */
function removeLets(fn: FunctionExpr, isRemoved: (expr: LetExpr) => boolean): FunctionExpr {
  const values = new Map<Expr, Expr>();
  const removed = new Set<Expr>();
  for (const expr of postOrder(fn.body)) {
    if (expr.kind !== 'let' || !isRemoved(expr)) continue;
    removed.add(expr);
    values.set(expr.variable, expr.value);
  }
  if (removed.size === 0) return fn;
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  const body = rewrite(fn.body, (expr, original) => {
    // The value of a let comes before its body, in which the variable stands.
    const source =
      original.kind === 'let' && removed.has(original) ? original.body : values.get(original);
    const result = source === undefined ? expr : resultOf(source);
    results.set(original, result);
    return result;
  });
  return { ...fn, body };
}
