import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Operators } from '../../../ops/operators.ts';
import type { Expr, FunctionExpr, LetExpr, VarExpr } from '../../ir/expr.ts';
import { givesSizes } from '../../ir/operators/scalar-operators.ts';
import { computeScopes, holds, type Scope, type Scopes } from '../../ir/walk/scopes.ts';
import { partsOfType, type Type } from '../../ir/type.ts';
import { bindersOf, variablesOf } from '../../ir/walk/visit.ts';

/** The names that the lets of a function give to dimensions. */
export class DimNames {
  readonly #operators: Operators;
  /** Symbols of parameters of the function, which nothing else may name. */
  readonly #bound: ReadonlySet<string>;
  /**
   * Symbols in the parameters of closures and in patterns, with the scopes in which these are bound. What a let around
   * them names they only mention.
   */
  readonly #inScopes = new Map<string, Scope[]>();
  /** Symbols that attributes and signatures mention; those of variables come with their values. */
  readonly #mentions = new Set<string>();
  /** The scopes of all that the function computes. */
  readonly scopes: Scopes;

  constructor(fn: FunctionExpr, operators: Operators) {
    this.#operators = operators;
    this.scopes = computeScopes(fn);
    this.#bound = new Set(fn.params.flatMap(symbolsOf));
    for (const expr of this.scopes.order) {
      if (expr.kind !== 'var') for (const symbol of mentionedIn(expr)) this.#mentions.add(symbol);
      const inside = this.scopes.inside(expr);
      if (expr.kind === 'function') this.#addBinders(expr.params, inside[0]);
      if (expr.kind !== 'match') continue;
      for (const [i, { pattern }] of expr.clauses.entries()) {
        this.#addBinders(variablesOf(pattern), inside[i]);
      }
    }
  }

  #addBinders(binders: readonly VarExpr[], inside: Scope | undefined): void {
    if (inside === undefined) return;
    for (const symbol of binders.flatMap(symbolsOf)) {
      const scopes = this.#inScopes.get(symbol);
      if (scopes === undefined) this.#inScopes.set(symbol, [inside]);
      else scopes.push(inside);
    }
  }

  /** The names that the variable of a let gives to dimensions of its value, which nothing named before. */
  givenBy(expr: LetExpr): readonly string[] {
    const { value } = expr;
    const scope = this.scopes.of(expr);
    const given = symbolsOf(expr.variable).filter((symbol) => {
      if (this.#bound.has(symbol)) return false;
      return !this.#inScopes.get(symbol)?.some((inside) => holds(inside, scope));
    });
    // A let inside has named the dimension, but only for its own body.
    const isNamed = value.kind === 'let' || this.#isComputed(value);
    return isNamed ? given.filter((name) => this.#mentions.has(name)) : given;
  }

  /** Dimensions of a computed value follow from its operands: a name matters only to who mentions it. */
  #isComputed(value: Expr): boolean {
    return (
      value.kind === 'call' &&
      value.callee.kind === 'operator' &&
      !this.#operators.isDynamic(value.callee.name) &&
      !givesSizes(value.callee.name)
    );
  }
}

/** Symbols in attributes and in the types that stand in an expression itself, each as often as it stands there. */
export function mentionedIn(expr: Expr): string[] {
  const symbols: string[] = [];
  if (expr.kind === 'var') addSymbols(expr.type, symbols);
  if (expr.kind === 'function' || expr.kind === 'match') {
    for (const { type } of bindersOf(expr)) addSymbols(type, symbols);
  }
  if (expr.kind === 'function') addSymbols(expr.resultType, symbols);
  if (expr.kind !== 'call') return symbols;
  for (const type of expr.typeArguments ?? []) addSymbols(type, symbols);
  for (const value of Object.values(expr.attributes)) {
    if (typeof value !== 'object') continue;
    addDims(value, symbols);
  }
  return symbols;
}

function addSymbols(root: Type | undefined, symbols: string[]): void {
  const work: Type[] = root === undefined ? [] : [root];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === 'tensor') addDims(next.shape, symbols);
    else work.push(...partsOfType(next));
  }
}

function addDims(dims: readonly Dim[], symbols: string[]): void {
  for (const dim of dims) forEachSymbol(dim, (symbol) => symbols.push(symbol));
}

/** The symbols of tensors and of tuples of them, whose values tell dimensions. */
function symbolsOf({ type }: VarExpr): string[] {
  const symbols: string[] = [];
  const work: Type[] = type === undefined ? [] : [type];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === 'tuple') work.push(...next.fields);
    else if (next.kind === 'tensor') addDims(next.shape, symbols);
  }
  return symbols;
}
