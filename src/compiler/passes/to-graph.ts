import { isUnknownDim } from '../../core/dims/dim-symbols.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import type { Expr, FunctionExpr, LetExpr, ProjectionExpr, VarExpr } from '../ir/expr.ts';
import { Effects } from '../ir/walk/effects.ts';
import { formatType, partsOfType, type Type } from '../ir/type.ts';
import { childrenOf, mapFunctions, postOrder, rewrite, withChildren } from '../ir/walk/visit.ts';
import { DimNames, mentionedIn } from './dims/dim-names.ts';
import type { Pass } from './pass.ts';

/**
 * Graph form: what a `let` binds becomes one shared node wherever that means the same. A `let` is
 * kept where it makes a difference: where all uses of the variable lie in a branch, a clause or a
 * function further in, in which the value would be computed instead; where its type gives a
 * name to a dimension that is unknown before, or says that a function takes any size; and where its value has
 * effects. What else nothing refers to goes, and so do tuples of which only fields are read.
 */
export const toGraph: Pass = {
  name: 'to-graph',
  run(module, { types: { operators } }) {
    const names = new WeakMap<FunctionExpr, DimNames>();
    const namesOf = (fn: FunctionExpr): DimNames => {
      const known = names.get(fn) ?? new DimNames(fn, operators);
      names.set(fn, known);
      return known;
    };
    const context = { namesOf, effects: new Effects(module) };
    return mapFunctions(module, (fn) => functionToGraph(fn, context));
  },
};

function functionToGraph(fn: FunctionExpr, context: GraphContext): FunctionExpr {
  const withoutLets = (given: FunctionExpr): FunctionExpr =>
    inlineLets(dropDeadLets(given, context), context);
  // Without its tuple, a field may lose the name of a dimension that another field has.
  if (namesDims(fn, context)) return withoutLets(fn);
  for (let current = readFields(fn, context); ; ) {
    const graph = withoutLets(current);
    current = readFields(graph, context);
    // A tuple may stand now where only its name stood.
    if (current === graph) return graph;
  }
}

/** Returns true if a let of the function gives a name to a dimension. */
function namesDims(fn: FunctionExpr, { namesOf }: GraphContext): boolean {
  const names = namesOf(fn);
  return names.scopes.order.some((expr) => expr.kind === 'let' && names.givenBy(expr).length > 0);
}

interface GraphContext {
  /** Names that the lets of a function give to dimensions, computed once. */
  readonly namesOf: (fn: FunctionExpr) => DimNames;
  readonly effects: Effects;
}

function dropDeadLets(fn: FunctionExpr, context: GraphContext): FunctionExpr {
  const live = liveVariables(fn, context);
  return removeLets(fn, (expr) => !live.has(expr.variable));
}

/**
 * Variables that the result depends on; those of lets only if they are referred to, or a name that
 * they give to a dimension is, or their value has effects.
 */
function liveVariables(fn: FunctionExpr, { namesOf, effects }: GraphContext): ReadonlySet<Expr> {
  const values = new Map<Expr, Expr>();
  const naming = new Map<string, VarExpr>();
  const names = namesOf(fn);
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

function inlineLets(fn: FunctionExpr, { namesOf, effects }: GraphContext): FunctionExpr {
  const names = namesOf(fn);
  const { scopes } = names;
  return removeLets(fn, (expr) => {
    if (names.givenBy(expr).length > 0 || saysMore(expr)) return false;
    if (isAtom(expr.value)) return true;
    return !effects.of(expr.value) && scopes.of(expr.variable) === scopes.of(expr);
  });
}

/**
 * Returns true if a let of branches has a type that says more than the branches: that callers may
 * pass tensors of any size to the functions that the branches give. Without the let, the sizes that
 * one caller passes would be those of all.
 */
function saysMore({ variable, value }: LetExpr): boolean {
  return (value.kind === 'if' || value.kind === 'match') && takesUnknownSizes(variable.type);
}

function takesUnknownSizes(type: Type | undefined): boolean {
  if (type?.kind !== 'function')
    return type !== undefined && partsOfType(type).some(takesUnknownSizes);
  return type.params.some((param) => param.kind === 'tensor' && param.shape.some(isUnknownDim));
}

/**
 * A field of a tuple that stands there is what the tuple has in its place. By its name it is that only for atoms: all else
 * is computed where the tuple is.
 */
function readFields(fn: FunctionExpr, { effects }: GraphContext): FunctionExpr {
  const order = postOrder(fn.body);
  if (!order.some(({ kind }) => kind === 'projection')) return fn;
  const lets = new Map<Expr, Expr>();
  for (const expr of order) if (expr.kind === 'let') lets.set(expr.variable, expr.value);
  const body = rewrite(fn.body, (expr, original) => {
    if (expr.kind !== 'projection' || original.kind !== 'projection') return expr;
    const named = lets.get(expr.tuple);
    const tuple = named ?? expr.tuple;
    const field = tuple.kind === 'tuple' ? tuple.fields[expr.index] : undefined;
    if (field === undefined || effects.of(original.tuple)) return expr;
    if (named === undefined) return field;
    return isAtom(field) && !isRenamed(field, expr) ? field : expr;
  });
  return body === fn.body ? fn : { ...fn, body };
}

/** Returns true if the variable of a tuple gives the dimensions of a field other names. */
function isRenamed(field: Expr, { tuple, index }: ProjectionExpr): boolean {
  const type = tuple.kind === 'var' ? tuple.type : undefined;
  const named = type?.kind === 'tuple' ? type.fields[index] : undefined;
  const own = field.kind === 'var' ? field.type : undefined;
  return named !== undefined && own !== undefined && formatType(named) !== formatType(own);
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
  for (const expr of postOrder(fn.body)) {
    // The value of a let comes before its body, in which the variable stands.
    const source = expr.kind === 'let' && removed.has(expr) ? expr.body : values.get(expr);
    const result = source === undefined ? withChildren(expr, resultOf) : resultOf(source);
    if (result !== expr) results.set(expr, result);
  }
  return { ...fn, body: resultOf(fn.body) };
}
