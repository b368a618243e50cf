import { NO_FACTS } from '../../../core/dims/dim-algebra.ts';
import type { DimBounds, DimFacts } from '../../../core/dims/dim-bounds.ts';
import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { FunctionExpr } from '../../ir/expr.ts';
import { partsOfType, type Type } from '../../ir/type.ts';
import { bindersOf, postOrder } from '../../ir/walk/visit.ts';

/**
 * Facts of symbols that follow from the bounds of functions. Two functions may have a symbol of the same name; of
 * that it is known what both say, and nothing when one says nothing.
 */
export function gatherDimFacts(functions: ReadonlyMap<string, FunctionExpr>): DimFacts {
  const bounded = [...functions.values()].filter((fn) => fn.attributes.bounds !== undefined);
  if (bounded.length === 0) return NO_FACTS;
  const facts = new Map<string, DimBounds>();
  const unbounded = new Set<string>();
  for (const fn of functions.values()) {
    const bounds = new Map(Object.entries(fn.attributes.bounds ?? {}));
    for (const [symbol, [min, max]] of bounds) {
      const known = facts.get(symbol);
      facts.set(symbol, {
        min: Math.min(min, known?.min ?? min),
        max: Math.max(max, known?.max ?? max),
      });
    }
    for (const symbol of symbolsIn(fn)) if (!bounds.has(symbol)) unbounded.add(symbol);
  }
  for (const symbol of unbounded) facts.delete(symbol);
  return facts;
}

/** Symbols in the types of the variables of a function. */
export function symbolsIn(fn: FunctionExpr): ReadonlySet<string> {
  const symbols = new Set<string>();
  const visitDim = (dim: Dim): void => forEachSymbol(dim, (symbol) => symbols.add(symbol));
  for (const expr of postOrder(fn)) {
    for (const { type } of bindersOf(expr)) if (type !== undefined) forEachDim(type, visitDim);
  }
  return symbols;
}

export function symbolsOfType(type: Type): ReadonlySet<string> {
  const symbols = new Set<string>();
  forEachDim(type, (dim) => forEachSymbol(dim, (symbol) => symbols.add(symbol)));
  return symbols;
}

function forEachDim(type: Type, visit: (dim: Dim) => void): void {
  const dims = type.kind === 'tensor' ? type.shape : [];
  for (const dim of dims) visit(dim);
  for (const part of partsOfType(type)) forEachDim(part, visit);
}
