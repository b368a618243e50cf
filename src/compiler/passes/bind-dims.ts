import { type Dim, evaluateDim, formatDim } from '../../core/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { Expr, FunctionExpr, VarExpr } from '../ir/expr.ts';
import { formatType, type Type } from '../ir/type.ts';
import { mapFunctions, rewrite } from '../ir/visit.ts';
import type { Pass } from './pass.ts';

/** Values for symbolic dimensions, by symbol. */
export type DimBindings = Readonly<Record<string, number>>;

/**
 * Replaces the symbols in the types of parameters by numbers.
 *
 * Throws UnsupportedError that names the input, the dimension and the remedy when one is left.
 */
export function bindDims(dims: DimBindings): Pass {
  const symbols = new Map(Object.entries(dims));
  return {
    name: 'bind-dims',
    run: (module) => mapFunctions(module, (fn) => bindFunction(fn, symbols)),
  };
}

function bindFunction(fn: FunctionExpr, symbols: ReadonlyMap<string, number>): FunctionExpr {
  const bound = new Map<Expr, VarExpr>();
  for (const param of fn.params) {
    if (param.type === undefined || isConcrete(param.type)) continue;
    bound.set(param, { ...param, type: bindType(param.type, param, symbols) });
  }
  if (bound.size === 0) return fn;
  return {
    ...fn,
    params: fn.params.map((param) => bound.get(param) ?? param),
    body: rewrite(fn.body, (expr) => bound.get(expr) ?? expr),
  };
}

function isConcrete(type: Type): boolean {
  if (type.kind === 'tensor') return type.shape.every((dim) => typeof dim === 'number');
  return type.kind !== 'tuple' || type.fields.every(isConcrete);
}

function bindType(type: Type, param: VarExpr, symbols: ReadonlyMap<string, number>): Type {
  switch (type.kind) {
    case 'tensor': {
      const shape = type.shape.map((dim, axis) => {
        const value = evaluateDim(dim, symbols);
        if (value !== undefined && value >= 0) return value;
        const missing = symbolsOf(dim).find((symbol) => !symbols.has(symbol)) ?? dim;
        throw unboundDim(`input "${param.name}"`, { dim: missing, axis, type: formatType(type) });
      });
      return { ...type, shape };
    }
    case 'tuple':
      return { ...type, fields: type.fields.map((field) => bindType(field, param, symbols)) };
    case 'function':
    case 'adt':
    case 'type-var':
    case 'scalar':
      return type;
    default:
      return type satisfies never;
  }
}

function symbolsOf(dim: Dim): string[] {
  if (typeof dim === 'number') return [];
  return typeof dim === 'string' ? [dim] : [...symbolsOf(dim.left), ...symbolsOf(dim.right)];
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
