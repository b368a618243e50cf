import { forEachSymbol, substituteDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { UnsupportedError, UsageError } from '../../../core/errors.ts';
import type { Attributes, AttributeValue } from '../../../core/contracts/primitive-function.ts';
import { shortList } from '../../../core/short-list.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import type { Operators } from '../../../ops/operators.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { Expr, FunctionAttributes, FunctionExpr, Module, VarExpr } from '../../ir/expr.ts';
import { type Type, withParts } from '../../ir/type.ts';
import { bindersOf, mapFunctions, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import type { Pass } from '../pass.ts';

/** Values for symbolic dimensions, by symbol. */
export type DimBindings = Readonly<Record<string, number>>;

/** The numbers that take the place of symbols. */
type Replacements = ReadonlyMap<string, Dim>;

/**
 * Replaces symbols by numbers, wherever a type or an attribute mentions them. Other symbols stay: the
 * program finds them out when it runs. A `?` in the type of a parameter of a global function becomes
 * a symbol of its own, named `parameter.axis`.
 */
export function bindDims(dims: DimBindings): Pass {
  const symbols = new Map(Object.entries(dims));
  return {
    name: 'bind-dims',
    run: (module, { types: { operators } }) =>
      mapFunctions(module, (fn) => bindFunction(nameUnknownParams(fn), symbols, operators)),
  };
}

function bindFunction(fn: FunctionExpr, symbols: Replacements, operators: Operators): FunctionExpr {
  return symbols.size === 0 ? fn : substituteSymbols(fn, symbols, { operators });
}

/**
 * A function with other dimensions in the place of symbols. It shares nothing but atoms with the function that it
 * was made of if `isCopy` says so, so that it may stand beside that: two copies in two branches must not become one
 * computation before both.
 */
export function substituteSymbols(
  fn: FunctionExpr,
  symbols: Replacements,
  { operators, isCopy = false }: { operators: Operators; isCopy?: boolean },
): FunctionExpr {
  const bindVariable = (variable: VarExpr): VarExpr => {
    const type = variable.type === undefined ? undefined : bindType(variable.type, symbols);
    return type === variable.type && !isCopy ? variable : { ...variable, type };
  };
  const variables = new Map<Expr, VarExpr>();
  for (const expr of postOrder(fn)) {
    for (const variable of bindersOf(expr)) variables.set(variable, bindVariable(variable));
  }
  const body = rewrite(fn.body, (expr, original) => {
    const variable = variables.get(expr);
    if (variable !== undefined) return variable;
    const rebound = withChildren(expr, (child) => variables.get(child) ?? child);
    const bound = bindNode(rebound, symbols, operators);
    return isCopy && bound === original && !isAtom(bound) ? { ...bound } : bound;
  });
  const params = fn.params.map((param) => variables.get(param) ?? param);
  const isSame = body === fn.body && params.every((param, i) => param === fn.params[i]);
  return bindFunctionTypes(isSame ? fn : { ...fn, params, body }, symbols);
}

/** The types and attributes that stand in a node itself. */
function bindNode(expr: Expr, symbols: Replacements, operators: Operators): Expr {
  if (expr.kind === 'function') return bindFunctionTypes(expr, symbols);
  if (expr.kind !== 'call') return expr;
  const { callee, typeArguments } = expr;
  const attributes =
    callee.kind === 'operator'
      ? bindAttributes(operators.get(callee.name), expr.attributes, symbols)
      : expr.attributes;
  const bound = typeArguments?.map((type) => bindType(type, symbols));
  const isSame =
    attributes === expr.attributes && (bound?.every((t, i) => t === typeArguments?.[i]) ?? true);
  if (isSame) return expr;
  return { ...expr, attributes, ...(bound === undefined ? {} : { typeArguments: bound }) };
}

function bindFunctionTypes(fn: FunctionExpr, symbols: Replacements): FunctionExpr {
  const attributes = bindBounds(fn.attributes, symbols);
  const resultType = fn.resultType && bindType(fn.resultType, symbols);
  if (resultType === fn.resultType && attributes === fn.attributes) return fn;
  return { ...fn, resultType, attributes };
}

function bindBounds(attributes: FunctionAttributes, symbols: Replacements): FunctionAttributes {
  const { bounds, ...others } = attributes;
  if (bounds === undefined || !Object.keys(bounds).some((name) => symbols.has(name))) {
    return attributes;
  }
  for (const [name, [min, max]] of Object.entries(bounds)) {
    const size = symbols.get(name);
    if (typeof size !== 'number' || (size >= min && size <= max)) continue;
    const expected = `a size from ${min} to ${max}`;
    throw new UsageError({ where: `dimension ${name}`, got: String(size), expected });
  }
  const left = Object.entries(bounds).filter(([name]) => !symbols.has(name));
  return left.length === 0 ? others : { ...others, bounds: Object.fromEntries(left) };
}

/** Lists of dimensions among the attributes of an operator. */
function bindAttributes(
  op: OpDefinition | undefined,
  attributes: Attributes,
  symbols: Replacements,
): Attributes {
  const changed: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (op?.attributes[name]?.type !== 'dims' || !Array.isArray(value)) continue;
    const dims: readonly Dim[] = value;
    const bound = dims.map((dim) => substituteDim(dim, symbols));
    if (bound.some((dim, i) => dim !== dims[i])) changed[name] = bound;
  }
  return Object.keys(changed).length === 0 ? attributes : { ...attributes, ...changed };
}

/** A type with other dimensions in the place of symbols. */
export function bindType(type: Type, symbols: Replacements): Type {
  return mapDims(type, (dim) => substituteDim(dim, symbols));
}

/** The type with its dimensions replaced; the same object when none differs. */
function mapDims(type: Type, replace: (dim: Dim, axis: number) => Dim): Type {
  if (type.kind !== 'tensor') return withParts(type, (part) => mapDims(part, replace));
  const shape = type.shape.map(replace);
  return shape.every((dim, axis) => dim === type.shape[axis]) ? type : { ...type, shape };
}

/** Gives `?` in the types of parameters a name: `parameter.axis`. */
export function nameUnknownParams(fn: FunctionExpr): FunctionExpr {
  const named = new Map<Expr, VarExpr>();
  for (const param of fn.params) {
    if (param.type?.kind !== 'tensor') continue;
    const type = mapDims(param.type, (dim, axis) => (dim === '?' ? `${param.name}.${axis}` : dim));
    if (type !== param.type) named.set(param, { ...param, type });
  }
  if (named.size === 0) return fn;
  const params = fn.params.map((param) => named.get(param) ?? param);
  return { ...fn, params, body: rewrite(fn.body, (expr) => named.get(expr) ?? expr) };
}

/** Throws UsageError for sizes of dimensions that no parameter of the module's functions has. */
export function checkDimNames(module: Module, dims: DimBindings): void {
  if (Object.keys(dims).length === 0) return;
  const known = new Set<string>();
  for (const fn of module.functions.values()) {
    for (const { type } of nameUnknownParams(fn).params) {
      if (type === undefined) continue;
      mapDims(type, (dim) => {
        forEachSymbol(dim, (symbol) => known.add(symbol));
        return dim;
      });
    }
  }
  requireKnownDims('dims', dims, known);
}

/** Throws UsageError for sizes of dimensions that are not among those known. */
export function requireKnownDims(
  where: string,
  dims: DimBindings,
  known: ReadonlySet<string>,
): void {
  const unknown = Object.keys(dims).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new UsageError({
    where,
    got: shortList(unknown.map((name) => JSON.stringify(name))),
    expected:
      known.size === 0
        ? 'nothing, because all sizes are fixed'
        : `names among ${shortList([...known].map((name) => JSON.stringify(name)))}`,
  });
}

/** The complaint about a dimension that has no number. */
export function unboundDim(
  where: string,
  { dim, axis, type }: { dim: Dim; axis: number; type: string },
): UnsupportedError {
  const name = formatDim(dim);
  return new UnsupportedError(
    {
      where,
      got: `dimension ${axis} as ${name === '?' ? 'unknown' : `the symbol ${name}`} in ${type}`,
      expected: 'a number for every dimension at compile time',
      remedy:
        name === '?'
          ? 'Give the dimension a size in the model.'
          : `Bind it: --dim ${name}=1, or dims: { ${JSON.stringify(name)}: 1 }.`,
    },
    { details: { dimension: name, axis } },
  );
}
