import { type Dim, evaluateDim } from '../../core/dim.ts';
import type { PrimitiveFunction, TensorType } from '../../core/primitive-function.ts';
import type { Shape } from '../../core/shape.ts';
import type { CallShapes } from './planner/plan.ts';

/**
 * Values that stand for a symbolic dimension while code is compiled: planners tell sizes apart by
 * being one, by divisibility, and by being large, so these meet the variants that occur.
 */
const REPRESENTATIVES = [1, 3, 4, 31, 32, 256, 1024];

/** Values of symbolic dimensions by name. */
export type Sizes = ReadonlyMap<string, number>;

const NO_SIZES: Sizes = new Map();

/** The shapes of a primitive all of whose symbols have a size, else undefined. */
export function shapesOf(
  primitive: PrimitiveFunction,
  sizes: Sizes = NO_SIZES,
): CallShapes | undefined {
  return shapesUnder(primitive, (symbol) => sizes.get(symbol));
}

/**
 * Some shapes that a primitive with symbolic dimensions may be called with; of results only where
 * they have symbols that no parameter has. `differing` gives each symbol another multiple, the first
 * the largest: what is between two sizes is empty where they are equal.
 */
export function representativeShapes(
  primitive: PrimitiveFunction,
  { differing = false }: { readonly differing?: boolean } = {},
): CallShapes[] {
  const { ofParams, ofResults, symbols } = symbolsIn(primitive);
  const needsResults = ofResults.some((symbol) => !ofParams.has(symbol));
  const factors = new Map(symbols.map((symbol, i) => [symbol, differing ? symbols.length - i : 1]));
  return REPRESENTATIVES.flatMap((value) => {
    const shapes = shapesUnder(primitive, (symbol) => value * (factors.get(symbol) ?? 1));
    if (shapes === undefined) return [];
    return { params: shapes.params, results: needsResults ? shapes.results : [] };
  });
}

/** Two of them with little in common: code that both need is needed for all sizes. */
export function contrastingShapes(primitive: PrimitiveFunction): CallShapes[] {
  const [, small, , , , large] = representativeShapes(primitive);
  return [small, large].filter((shapes) => shapes !== undefined);
}

/** Whether all symbols of a primitive are among some. */
export function hasOnlySymbols(primitive: PrimitiveFunction, some: ReadonlySet<string>): boolean {
  return symbolsIn(primitive).symbols.every((symbol) => some.has(symbol));
}

function symbolsIn({ params, results }: PrimitiveFunction) {
  const ofParams = new Set(params.flatMap(({ shape }) => shape.flatMap(symbolsOf)));
  const ofResults = results.flatMap(({ type }) => type.shape.flatMap(symbolsOf));
  return { ofParams, ofResults, symbols: [...new Set([...ofParams, ...ofResults])] };
}

type ValueOf = (symbol: string) => number | undefined;

function shapesUnder(primitive: PrimitiveFunction, valueOf: ValueOf): CallShapes | undefined {
  const params = primitive.params.map((type) => shapeUnder(type, valueOf));
  const results = primitive.results.map(({ type }) => shapeUnder(type, valueOf));
  return params.every(isShape) && results.every(isShape) ? { params, results } : undefined;
}

function shapeUnder({ shape }: TensorType, valueOf: ValueOf): Shape | undefined {
  const symbols = new Map<string, number>();
  for (const name of shape.flatMap(symbolsOf)) {
    const value = valueOf(name);
    if (value !== undefined) symbols.set(name, value);
  }
  const dims = shape.map((dim) => evaluateDim(dim, symbols));
  return dims.every((dim) => dim !== undefined && dim >= 0) ? dims.map(Number) : undefined;
}

function symbolsOf(dim: Dim): string[] {
  if (typeof dim === 'number') return [];
  if (typeof dim === 'string') return [dim];
  return [...symbolsOf(dim.left), ...symbolsOf(dim.right)];
}

function isShape(shape: Shape | undefined): shape is Shape {
  return shape !== undefined;
}
