import { applyDimOperator, type Dim, evaluateDim, formatDim } from './dim.ts';
import type { Shape } from '../tensor/shape.ts';

/** Values and equations of dimensions that are known from types and their shapes. */
export class DimValues {
  readonly #symbols = new Map<string, number>();
  readonly #dims = new Map<string, readonly [Dim, number]>();

  learn(dims: readonly Dim[], sizes: Shape | undefined): void {
    for (const [axis, dim] of dims.entries()) {
      const size = sizes?.[axis];
      if (size !== undefined) this.#dims.set(formatDim(dim), [dim, size]);
    }
    // A symbol may be what an equation that came before was short of.
    for (let count = -1; count !== this.#symbols.size; ) {
      count = this.#symbols.size;
      for (const [dim, size] of this.#dims.values()) this.#solve(dim, size);
    }
  }

  of(dim: Dim): number | undefined {
    if (typeof dim !== 'object') return evaluateDim(dim, this.#symbols);
    const known = this.#dims.get(formatDim(dim));
    if (known !== undefined) return known[1];
    const left = this.of(dim.left);
    const right = this.of(dim.right);
    if (left === undefined || right === undefined) return undefined;
    return applyDimOperator(dim.op, left, right);
  }

  /** Finds the symbol of a sum or product whose other operand is known. */
  #solve(dim: Dim, value: number): void {
    if (typeof dim === 'string' && dim !== '?') this.#symbols.set(dim, value);
    if (typeof dim !== 'object') return;
    const left = this.of(dim.left);
    const known = left ?? this.of(dim.right);
    const open = left === undefined ? dim.left : dim.right;
    if (known === undefined || this.of(open) !== undefined) return;
    if (dim.op === 'add') this.#solve(open, value - known);
    if (dim.op === 'sub') this.#solve(open, open === dim.left ? value + known : known - value);
    if (dim.op === 'mul' && known !== 0) this.#solve(open, value / known);
  }
}
