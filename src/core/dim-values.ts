import { applyDimOperator, type Dim, evaluateDim, formatDim } from './dim.ts';
import type { Shape } from './shape.ts';

/** Values and equations of dimensions that are known from types and their shapes. */
export class DimValues {
  readonly #symbols = new Map<string, number>();
  readonly #dims = new Map<string, number>();

  learn(dims: readonly Dim[], sizes: Shape | undefined): void {
    for (const [axis, dim] of dims.entries()) {
      const size = sizes?.[axis];
      if (size === undefined || typeof dim === 'number') continue;
      this.#dims.set(formatDim(dim), size);
      this.#solve(dim, size);
    }
  }

  of(dim: Dim): number | undefined {
    const known = typeof dim === 'object' ? this.#dims.get(formatDim(dim)) : undefined;
    if (known !== undefined) return known;
    if (typeof dim !== 'object') return evaluateDim(dim, this.#symbols);
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
    const right = this.of(dim.right);
    if (left === undefined && right !== undefined) {
      if (dim.op === 'add') this.#solve(dim.left, value - right);
      if (dim.op === 'sub') this.#solve(dim.left, value + right);
      if (dim.op === 'mul' && right !== 0) this.#solve(dim.left, value / right);
    } else if (left !== undefined && right === undefined) {
      if (dim.op === 'add') this.#solve(dim.right, value - left);
      if (dim.op === 'sub') this.#solve(dim.right, left - value);
      if (dim.op === 'mul' && left !== 0) this.#solve(dim.right, value / left);
    }
  }
}
