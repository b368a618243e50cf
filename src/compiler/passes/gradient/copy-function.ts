import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Operators } from '../../../ops/operators.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import { bindersOf, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import { substituteSymbols } from '../dims/bind-dims.ts';
import { substituteTypes } from './typed-values.ts';

/** A copy of a function with variables and nodes of its own, and other names for symbols. */
export function copyFunction(
  fn: FunctionExpr,
  symbols: ReadonlyMap<string, Dim>,
  operators: Operators,
): FunctionExpr {
  return substituteSymbols(fn, symbols, { operators, isCopy: true });
}

interface Names {
  /** Symbols that mean the same in the copy. */
  readonly known: ReadonlySet<string>;
  /** Names that the function has, to which those of the copy are added. */
  readonly taken: Set<string>;
}

/** New names for symbols that the variables of a function bring. */
export function freshNames(fn: FunctionExpr, { known, taken }: Names): Map<string, Dim> {
  const symbols = new Map<string, Dim>();
  for (const symbol of boundSymbols(fn)) {
    if (symbols.has(symbol) || known.has(symbol)) continue;
    let name = symbol;
    for (let i = 1; taken.has(name); i++) name = `${symbol}_${i}`;
    taken.add(name);
    symbols.set(symbol, name);
  }
  return symbols;
}

/** The symbols in the types of all variables that a function binds. */
export function boundSymbols(fn: FunctionExpr): readonly string[] {
  return postOrder(fn)
    .flatMap(bindersOf)
    .flatMap(({ type }) => symbolsOf(type));
}

/** The symbols that a value of a type has: those in types of functions are their own. */
export function sizesOf(type: Type | undefined): string[] {
  return symbolsOf(type, { intoFunctions: false });
}

/** The symbols in a type. */
export function symbolsOf(type: Type | undefined, { intoFunctions = true } = {}): string[] {
  const symbols: string[] = [];
  const work: Type[] = type === undefined ? [] : [type];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === 'tensor') {
      for (const dim of next.shape) forEachSymbol(dim, (symbol) => symbols.push(symbol));
    } else if (next.kind === 'tuple') work.push(...next.fields);
    else if (next.kind === 'adt') work.push(...next.args);
    else if (next.kind === 'function' && intoFunctions) work.push(...next.params, next.result);
  }
  return symbols.filter((symbol) => symbol !== '?');
}

/** Returns true if a tensor in a type has a dimension without a name. */
export function hasUnknownDims(type: Type): boolean {
  if (type.kind === 'tensor') return type.shape.some(isUnknownDim);
  if (type.kind === 'tuple') return type.fields.some(hasUnknownDims);
  return type.kind === 'adt' && type.args.some(hasUnknownDims);
}

/** The function with types in place of its type parameters. */
export function specialiseTypes(fn: FunctionExpr, given: ReadonlyMap<string, Type>): FunctionExpr {
  if (given.size === 0) return fn;
  const typed = (type: Type | undefined) => type && substituteTypes(type, given);
  const variables = new Map<Expr, VarExpr>();
  for (const expr of postOrder(fn)) {
    for (const variable of bindersOf(expr)) {
      variables.set(variable, { ...variable, type: typed(variable.type) });
    }
  }
  const body = rewrite(fn.body, (expr) => {
    const bound = variables.get(expr);
    if (bound !== undefined) return bound;
    const rebound = withChildren(expr, (child) => variables.get(child) ?? child);
    if (rebound.kind === 'function') return { ...rebound, resultType: typed(rebound.resultType) };
    if (rebound.kind !== 'call' || rebound.typeArguments === undefined) return rebound;
    return {
      ...rebound,
      typeArguments: rebound.typeArguments.map((type) => substituteTypes(type, given)),
    };
  });
  const { typeParams: _, ...others } = fn;
  const params = fn.params.map((param) => variables.get(param) ?? param);
  return { ...others, params, body, resultType: typed(fn.resultType) };
}
