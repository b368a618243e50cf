import { formatDim, type Dim } from '../../../core/dims/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import type { TensorType, OperatorCall } from '../../../core/contracts/primitive-function.ts';
import type { Operators } from '../../../ops/operators.ts';
import {
  type CallExpr,
  type Expr,
  type FunctionExpr,
  formatSpan,
  type VarExpr,
} from '../../ir/expr.ts';
import type { Scope, Scopes } from '../../ir/walk/scopes.ts';
import { postOrder, variablesOf } from '../../ir/walk/visit.ts';
import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import { DimValues } from '../../../core/dims/dim-values.ts';

/**
 * Variables around a kernel that the kernel has to be given too, although it does not read them: their
 * shapes tell symbols in its attributes. An example is a table that is cut to a length which only
 * another tensor has.
 *
 * Throws UnsupportedError for a symbol that no variable has in its type.
 */
export function symbolCarriers(
  calls: readonly CallExpr[],
  { known, operators: table }: { known: readonly TensorType[]; operators: Operators },
  variables: () => Iterable<VarExpr>,
): readonly VarExpr[] {
  const operators = calls.flatMap(({ callee, attributes }) =>
    callee.kind === 'operator' ? [{ op: callee.name, attributes }] : [],
  );
  let missing = undeterminedSymbols(operators, known, table);
  const types = [...known];
  const carriers: VarExpr[] = [];
  /** Shapes that tell nothing, as long as no other one has told more. */
  const silent = new Set<string>();
  for (const variable of missing.length === 0 ? [] : variables()) {
    if (variable.type?.kind !== 'tensor') continue;
    const shape = variable.type.shape.map(formatDim).join();
    if (silent.has(shape)) continue;
    const rest = undeterminedSymbols(operators, [...types, variable.type], table);
    if (rest.length === missing.length) {
      silent.add(shape);
      continue;
    }
    silent.clear();
    carriers.push(variable);
    types.push(variable.type);
    missing = rest;
  }
  const [symbol] = missing;
  if (symbol === undefined) return carriers;
  const span = calls.find((call) => call.span !== undefined)?.span;
  throw new UnsupportedError({
    where: formatSpan(span, operators.map(({ op }) => op).join(', ')),
    got: `the dimension ${symbol} in an attribute`,
    expected: 'dimensions that tensors around the call have',
    remedy: 'Name the dimension in the type of a parameter of the function.',
  });
}

/**
 * The variables that an expression may read: those of lets around it, then parameters and the
 * variables of patterns, the nearest first.
 */
export function* variablesAround(expr: Expr, scopes: Scopes, fn: FunctionExpr): Iterable<VarExpr> {
  yield* variablesOfLets(expr, scopes);
  const bound = boundByScope(scopes);
  let scope: Scope | undefined = scopes.of(expr);
  while (scope !== undefined) {
    yield* bound.get(scope) ?? [];
    scope = scope.parent;
  }
  yield* fn.params;
}

/** The variables of lets that have an expression in their body. */
function* variablesOfLets(expr: Expr, { order }: Scopes): Iterable<VarExpr> {
  let position = -1;
  const values = new Map<Expr, number>();
  for (const [index, other] of order.entries()) {
    values.set(other, index);
    if (other === expr) position = index;
    if (other.kind !== 'let' || position < 0 || other.variable.type?.kind !== 'tensor') continue;
    const isBound = (values.get(other.value) ?? position) < position;
    if (isBound && postOrder(other.body).includes(expr)) yield other.variable;
  }
}

function boundByScope(scopes: Scopes): ReadonlyMap<Scope, readonly VarExpr[]> {
  const bound = new Map<Scope, readonly VarExpr[]>();
  for (const expr of scopes.order) {
    for (const [i, scope] of scopes.inside(expr).entries()) {
      if (expr.kind === 'function') bound.set(scope, expr.params);
      const clause = expr.kind === 'match' ? expr.clauses[i] : undefined;
      if (clause !== undefined) bound.set(scope, variablesOf(clause.pattern));
    }
  }
  return bound;
}

/** Symbols in attributes of calls that the sizes of tensors of these types do not tell. */
export function undeterminedSymbols(
  calls: readonly Pick<OperatorCall, 'op' | 'attributes'>[],
  types: readonly TensorType[],
  operators: Operators,
): readonly string[] {
  const dims = calls.flatMap((call) => symbolicDims(call, operators));
  if (dims.length === 0) return [];
  const values = new DimValues();
  // Any sizes will do: whether a symbol follows from them does not depend on them.
  for (const { shape } of types) values.learn(shape, new Array<number>(shape.length).fill(1));
  const missing = new Set<string>();
  for (const dim of dims) {
    if (values.of(dim) !== undefined) continue;
    forEachSymbol(dim, (symbol) => {
      if (values.of(symbol) === undefined) missing.add(symbol);
    });
  }
  return [...missing];
}

function symbolicDims(
  { op, attributes }: Pick<OperatorCall, 'op' | 'attributes'>,
  operators: Operators,
): Dim[] {
  const specs = operators.require(op).attributes;
  return Object.entries(attributes).flatMap(([name, value]) =>
    specs[name]?.type === 'dims' && typeof value === 'object'
      ? value.filter((item: Dim) => typeof item !== 'number')
      : [],
  );
}
