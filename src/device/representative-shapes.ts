import { type CallShapes, shapesOf } from '../core/contracts/call-shapes.ts';
import { forEachSymbol } from '../core/dims/dim-symbols.ts';
import type { Dim } from '../core/dims/dim.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';

/**
 * Values that stand for a symbolic dimension while code is compiled: planners tell sizes apart by
 * being one, by divisibility, and by being large, so these meet the variants that occur.
 */
const REPRESENTATIVES = [1, 3, 4, 31, 32, 256, 1024];

interface RepresentativeOptions {
  readonly differing?: boolean;
  readonly values?: readonly number[];
  /** Gives shapes of results in any case: dimensions in attributes may be known from these only. */
  readonly hasResults?: boolean;
}

/**
 * Some shapes that a primitive with symbolic dimensions may be called with; of results only where
 * they have symbols that no parameter has. `differing` gives each symbol another multiple, the first
 * the largest: what is between two sizes is empty where they are equal.
 */
export function representativeShapes(
  primitive: PrimitiveFunction,
  { differing = false, values = REPRESENTATIVES, hasResults = false }: RepresentativeOptions = {},
): CallShapes[] {
  const { ofParams, ofResults, symbols } = symbolsIn(primitive);
  const needsResults = hasResults || ofResults.some((symbol) => !ofParams.has(symbol));
  return values.flatMap((value) => {
    const sizeOf = (i: number): number => (differing ? value * (symbols.length - i) : value);
    const sizes = new Map(symbols.map((symbol, i) => [symbol, sizeOf(i)]));
    const shapes = shapesOf(primitive, sizes);
    if (shapes === undefined) return [];
    return { params: shapes.params, results: needsResults ? shapes.results : [] };
  });
}

/** Two of them with little in common: code that both need is needed for all sizes. */
export function contrastingShapes(primitive: PrimitiveFunction): CallShapes[] {
  const [, small, , , , large] = representativeShapes(primitive);
  return [small, large].filter((shapes) => shapes !== undefined);
}

/** Returns true if `some` has all symbols of a primitive. */
export function hasOnlySymbols(primitive: PrimitiveFunction, some: ReadonlySet<string>): boolean {
  return symbolsIn(primitive).symbols.every((symbol) => some.has(symbol));
}

function symbolsIn({ params, results }: PrimitiveFunction) {
  const ofParams = new Set(params.flatMap(({ shape }) => shape.flatMap(symbolsOf)));
  const ofResults = results.flatMap(({ type }) => type.shape.flatMap(symbolsOf));
  return { ofParams, ofResults, symbols: [...new Set([...ofParams, ...ofResults])] };
}

function symbolsOf(dim: Dim): string[] {
  const symbols: string[] = [];
  forEachSymbol(dim, (symbol) => symbols.push(symbol));
  return symbols;
}
