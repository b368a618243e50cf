import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import type { Operators } from '../../../ops/operators.ts';
import type { Expr, FunctionExpr, LetExpr, VarExpr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import { bindersOf, mapFunctions, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { givesSizes } from '../../ir/operators/scalar-operators.ts';
import { countReaders } from '../../rewriting/count-readers.ts';
import type { Pass } from '../pass.ts';
import { functionToAnf } from '../to-anf.ts';
import { resolveDimNames } from './resolve-dim-names.ts';

/**
 * Gives each dimension that is unknown (`?`) a name where a tensor with it comes into a function:
 * as a parameter, as a field of a data type, or as the result of a call, of an operator whose result has a
 * size that depends on elements, or of branches that differ. What is computed from it then has dimensions
 * over that name, which the program reads off the tensor. A closure binds such a parameter to a variable
 * with names, because its own type must keep the `?`: the function is called with tensors of any size.
 */
export const nameUnknownDims: Pass = {
  name: 'name-unknown-dims',
  run: (module, { types }) => mapFunctions(module, (fn) => nameSizes(fn, types)),
};

/** {@link nameUnknownDims} for one function. */
export function nameSizes(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const named = bringsUnknownDims(fn, types) ? nameInFunction(fn, types) : fn;
  const resolved = resolveDimNames(named, types);
  // A name holds in the body of its let: no operand may hide it there.
  return named === fn ? resolved : functionToAnf(resolved, (expr) => types.of(expr));
}

/** Returns true if there is a dimension to name. Most functions have none, and are walked once. */
function bringsUnknownDims(fn: FunctionExpr, types: TypeInference): boolean {
  if (fn.params.some(({ type }) => hasUnknownDim(type))) return true;
  return postOrder(fn.body).some(
    (expr) =>
      bindersOf(expr).some(({ type }) => hasUnknownDim(type)) ||
      (bringsDims(expr, types.operators) && hasUnknownDim(types.of(expr))),
  );
}

function nameInFunction(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const named = namer(fn);
  const lets = new Map<Expr, LetExpr>();
  const variables = new Map<Expr, VarExpr>();
  const nameAll = (binders: readonly VarExpr[]): void => {
    for (const variable of binders) {
      const type = named(variable.type);
      if (type !== undefined) variables.set(variable, { ...variable, type });
    }
  };
  // Functions that inference has made global come with `?` in their parameters.
  nameAll(fn.params);
  for (const expr of postOrder(fn.body)) {
    if (expr.kind === 'let') lets.set(expr.variable, expr);
    else if (expr.kind === 'match') nameAll(bindersOf(expr));
    else if (isClosure(expr)) nameAll(expr.params);
  }
  const hasName = valuesWithNames(fn);
  const results = new Map<Expr, Expr>();
  const nameLet = (variable: VarExpr): void => {
    const bound = lets.get(variable)?.value;
    const value = bound && (results.get(bound) ?? variables.get(bound) ?? bound);
    if (value !== undefined && hasUnknownDim(variable.type)) {
      variables.set(variable, { ...variable, type: types.of(value) });
    }
  };
  const body = rewrite(fn.body, (expr, original) => {
    if (expr.kind === 'var') {
      // The value of a let comes before what refers to its variable.
      nameLet(expr);
      return variables.get(expr) ?? expr;
    }
    // Forward mode computes with variables too that nothing refers to.
    if (expr.kind === 'let') nameLet(expr.variable);
    const rebound = isClosure(expr)
      ? onEntry(expr, original, variables)
      : withChildren(expr, (child) => variables.get(child) ?? child);
    const isSource = !hasName.has(original) && bringsDims(rebound, types.operators);
    const isUnknown = isSource && hasUnknownDim(types.of(rebound));
    const result = isUnknown ? bindNamed(rebound, named(types.of(rebound))) : rebound;
    results.set(original, result);
    return result;
  });
  const params = fn.params.map((param) => variables.get(param) ?? param);
  const isSame = body === fn.body && params.every((param, i) => param === fn.params[i]);
  return isSame ? fn : { ...fn, params, body };
}

function isClosure(expr: Expr): expr is FunctionExpr {
  return expr.kind === 'function' && expr.attributes.primitive === undefined;
}

/** The closure with its own parameters; in its body, lets with names for what they leave open. */
function onEntry(
  fn: FunctionExpr,
  original: Expr,
  variables: ReadonlyMap<Expr, VarExpr>,
): FunctionExpr {
  const params = original.kind === 'function' ? original.params : fn.params;
  let { body } = fn;
  for (const param of params.toReversed()) {
    const variable = variables.get(param);
    if (variable !== undefined) body = { kind: 'let', variable, value: param, body };
  }
  return body === fn.body ? fn : { ...fn, params, body };
}

/**
 * Gives the type of a tensor with a new name for each unknown dimension; undefined for a type
 * without any.
 */
function namer(fn: FunctionExpr): (type: Type | undefined) => Type | undefined {
  const taken = new Set<string>();
  for (const expr of postOrder(fn)) {
    for (const { type } of bindersOf(expr)) {
      if (type?.kind !== 'tensor') continue;
      for (const dim of type.shape) forEachSymbol(dim, (symbol) => taken.add(symbol));
    }
  }
  let count = 0;
  const next = (): string => {
    let name = `d${count++}`;
    while (taken.has(name)) name = `d${count++}`;
    return name;
  };
  return (type) => {
    if (type?.kind !== 'tensor' || !hasUnknownDim(type)) return undefined;
    return { ...type, shape: type.shape.map((dim) => (isUnknownDim(dim) ? next() : dim)) };
  };
}

/** Values that a let alone reads, whose type has a name for each dimension. */
function valuesWithNames(fn: FunctionExpr): ReadonlySet<Expr> {
  const readers = countReaders(fn.body);
  const found = new Set<Expr>();
  for (const expr of postOrder(fn.body)) {
    if (expr.kind !== 'let' || expr.variable.type?.kind !== 'tensor') continue;
    const isNamed = !hasUnknownDim(expr.variable.type);
    if (isNamed && readers.get(expr.value) === 1) found.add(expr.value);
  }
  return found;
}

function hasUnknownDim(type: Type | undefined): boolean {
  return type?.kind === 'tensor' && type.shape.some(isUnknownDim);
}

/** Returns true if the dimensions of a result do not follow from those of its operands. */
function bringsDims(expr: Expr, operators: Operators): boolean {
  switch (expr.kind) {
    case 'call':
      return (
        expr.callee.kind !== 'operator' ||
        operators.isDynamic(expr.callee.name) ||
        givesSizes(expr.callee.name)
      );
    case 'projection':
    case 'if':
    case 'match':
      return true;
    default:
      return false;
  }
}

/** `let v: type = value; v` */
function bindNamed(value: Expr, type: Type | undefined): Expr {
  if (type === undefined) return value;
  const variable: VarExpr = { kind: 'var', name: 'named', type };
  const bound: LetExpr = { kind: 'let', variable, value, body: variable };
  return bound;
}
