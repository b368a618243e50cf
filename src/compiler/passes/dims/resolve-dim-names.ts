import {
  forEachSymbol,
  isUnknownDim,
  sameDim,
  substituteDim,
} from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Expr, FunctionExpr, LetExpr, VarExpr } from '../../ir/expr.ts';
import { isSymbol, type Type } from '../../ir/type.ts';
import { tensorSymbols } from '../../inference/declarations.ts';
import { symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import { bindersOf, postOrder, rewrite } from '../../ir/walk/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { substituteSymbols } from './bind-dims.ts';

/**
 * A function without the names that types of lets give to dimensions which are known otherwise: what
 * such a name stands for takes its place. `let %y: Tensor[(k), float32] = concat(%x, %x, axis=0)`
 * makes `k` another word for `n * 2`. Inference has seen to it that a name has one meaning.
 */
export function resolveDimNames(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const lets: LetExpr[] = [];
  const taken = new Set(namesOf(fn.params));
  for (const expr of postOrder(fn.body)) {
    if (expr.kind === 'let') lets.push(expr);
    // In the type of a parameter of a closure a name may be that of a let around it.
    if (expr.kind !== 'match') continue;
    // A name that what is matched has is none that the pattern gives.
    const given = symbolsOfType(types.of(expr.value));
    for (const name of namesOf(bindersOf(expr))) if (!given.has(name)) taken.add(name);
  }
  const meanings = new Map<string, Dim>();
  // Outer lets first: they give the names that inner ones use.
  for (const { variable, value } of lets.toReversed()) {
    if (namesOf([variable]).every((name) => taken.has(name))) continue;
    addMeanings(variable.type, types.of(value), { meanings, taken });
  }
  if (meanings.size === 0) return fn;
  return fitLets(substituteSymbols(fn, withoutNames(meanings), types), types);
}

/**
 * A function whose lets have the types of their values. An operator takes the simpler one of two sizes that have to be
 * equal, so `add` of sizes `k` and `n` gives `k`, and once that is `n * 2` gives `n`.
 */
function fitLets(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const values = new Map<Expr, Expr>();
  for (const expr of postOrder(fn.body)) {
    if (expr.kind === 'let') values.set(expr.variable, expr.value);
  }
  const results = new Map<Expr, Expr>();
  const body = rewrite(fn.body, (expr, original) => {
    // The value of a let comes before what refers to its variable.
    const bound = expr.kind === 'var' ? values.get(original) : undefined;
    const result =
      expr.kind === 'var' && bound !== undefined
        ? fitted(expr, types.of(results.get(bound) ?? bound))
        : expr;
    results.set(original, result);
    return result;
  });
  return body === fn.body ? fn : { ...fn, body };
}

/** A variable with the dimensions of its value in the place of those that were resolved. */
function fitted(variable: VarExpr, actual: Type | undefined): VarExpr {
  const { type } = variable;
  if (type?.kind !== 'tensor' || actual?.kind !== 'tensor') return variable;
  const shape = type.shape.map((dim, axis) => {
    const known = actual.shape[axis] ?? '?';
    return typeof dim !== 'object' || isUnknownDim(known) || sameDim(dim, known) ? dim : known;
  });
  const isSame = shape.every((dim, axis) => dim === type.shape[axis]);
  return isSame ? variable : { ...variable, type: { ...type, shape } };
}

/** Meanings without names that have a meaning themselves, of lets that were looked at later. */
function withoutNames(meanings: ReadonlyMap<string, Dim>): ReadonlyMap<string, Dim> {
  const resolved = new Map(meanings);
  // Each round resolves one more level, and a name does not lead to itself.
  for (let round = 0; round < meanings.size; round++) {
    let isChanged = false;
    for (const [name, dim] of resolved) {
      const next = substituteDim(dim, meanings);
      if (next === dim || mentions(next, name)) continue;
      resolved.set(name, next);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  return resolved;
}

/** Names that stand by themselves in the types of tensors and of tuples of them. */
function namesOf(variables: readonly VarExpr[]): string[] {
  return variables.flatMap(({ type }) => (type === undefined ? [] : [...tensorSymbols(type)]));
}

interface Names {
  readonly meanings: Map<string, Dim>;
  /** Symbols that mean something of their own. */
  readonly taken: Set<string>;
}

function addMeanings(declared: Type | undefined, actual: Type | undefined, names: Names): void {
  if (declared?.kind === 'tuple' && actual?.kind === 'tuple') {
    for (const [i, field] of declared.fields.entries()) addMeanings(field, actual.fields[i], names);
  }
  if (declared?.kind !== 'tensor' || actual?.kind !== 'tensor') return;
  for (const [axis, name] of declared.shape.entries()) {
    // A value that has the name itself was named by a let inside it.
    if (!isSymbol(name) || names.taken.has(name) || actual.shape[axis] === name) continue;
    names.taken.add(name);
    const meaning = substituteDim(actual.shape[axis] ?? '?', names.meanings);
    if (isUnknownDim(meaning) || mentions(meaning, name)) continue;
    names.meanings.set(name, meaning);
  }
}

function mentions(dim: Dim, name: string): boolean {
  let found = false;
  forEachSymbol(dim, (symbol) => {
    found ||= symbol === name;
  });
  return found;
}
