import { type Dim, evaluateDim } from './dim.ts';
import { forEachSymbol } from './dim-symbols.ts';
import type { TensorType } from '../contracts/primitive-function.ts';
import type { Shape } from '../tensor/shape.ts';

/** The size of a symbol that is no batch. */
const USUAL_SIZE = 128;

/** Sizes for the symbols of a function, by which its work is estimated. */
export class RepresentativeSizes {
  readonly #batches: ReadonlySet<Dim | undefined>;
  readonly #sizeOf: (symbol: string, usual: number) => number;

  /** `sizeOf` may know better than that a batch is 1 and all others are 128. */
  constructor(
    inputs: readonly TensorType[],
    sizeOf = (_symbol: string, usual: number): number => usual,
  ) {
    // The first dimension is a batch more often than not.
    this.#batches = new Set(inputs.flatMap(({ shape }) => (shape.length > 1 ? shape[0] : [])));
    this.#sizeOf = sizeOf;
  }

  size(dim: Dim): number {
    if (typeof dim === 'number') return dim;
    const symbols = new Map<string, number>();
    forEachSymbol(dim, (symbol) => {
      symbols.set(symbol, this.#sizeOf(symbol, this.#batches.has(symbol) ? 1 : USUAL_SIZE));
    });
    return Math.max(0, evaluateDim(dim, symbols) ?? USUAL_SIZE);
  }

  shape(dims: readonly Dim[]): Shape {
    return dims.map((dim) => this.size(dim));
  }
}
