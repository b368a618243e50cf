import { proveEqual, proveLess } from '../../../core/dims/dim-algebra.ts';
import { type Dim, type DimExpression, formatDim } from '../../../core/dims/dim.ts';
import type { SymbolicDims } from '../../../core/dims/symbolic-dims.ts';

/** Sizes of more parts get a name: proofs about them would take long. */
const MAX_PARTS = 4;

interface BroadcastContext {
  readonly dims: SymbolicDims;
  /** The name of a size that the program computes here. */
  readonly name: (size: Dim) => Dim;
}

/**
 * Sizes that broadcast when the program runs. Operators take it that no symbol is 1; in a model each name
 * may be, so that operands are repeated to a size which holds in either case.
 */
export class BroadcastSizes {
  /** The sizes that made a result, by its text: chains of results stay as short as their sizes are many. */
  readonly #parts = new Map<string, readonly Dim[]>();

  /**
   * The shapes to which operands are repeated before they broadcast, undefined for those that stay: their
   * sizes are known to be 1 or the one of the result, or are taken to be it.
   */
  repeatsOf(
    shapes: readonly (readonly Dim[])[],
    context: BroadcastContext,
  ): readonly (readonly Dim[] | undefined)[] {
    const repeated = shapes.map((shape) => [...shape]);
    const rank = Math.max(0, ...shapes.map((shape) => shape.length));
    for (let fromEnd = 1; fromEnd <= rank; fromEnd++) {
      const sizes = distinct(shapes.map((shape) => shape.at(-fromEnd) ?? 1));
      const result = sizes.length < 2 ? undefined : this.#sizeOf(sizes, context);
      if (result === undefined) continue;
      for (const shape of repeated) {
        const size = shape.at(-fromEnd) ?? 1;
        const isRepeated = size !== 1 && this.#mayBeOne(size, sizes) && !proveEqual(size, result);
        if (isRepeated) shape[shape.length - fromEnd] = result;
      }
    }
    return repeated.map((shape, i) =>
      shape.some((size, axis) => size !== shapes[i]?.[axis]) ? shape : undefined,
    );
  }

  /** The size that holds for these; undefined where they are taken to be the same. */
  #sizeOf(sizes: readonly Dim[], { dims, name }: BroadcastContext): Dim | undefined {
    if (sizes.includes('?')) return undefined;
    const wide = sizes.filter((size) => !this.#mayBeOne(size, sizes));
    if (wide.length > 0) {
      // The end of a slice may be clamped to its axis, which then is as long as the other one.
      return wide.find((size) => typeof size === 'number') ?? wide.find((size) => !isClamped(size));
    }
    const parts = distinct(sizes.flatMap((size) => this.#parts.get(formatDim(size)) ?? [size]));
    const largest = parts.reduce((left, right) => dims.max(left, right));
    // One size of 0 makes the result empty.
    const least = parts.reduce((left, right) => dims.min(left, right), 1);
    const size = dims.mul(largest, least);
    if (parts.length > MAX_PARTS) return name(size);
    this.#parts.set(formatDim(size), parts);
    return size;
  }

  /**
   * Names and results of broadcasting may be 1, products and quotients beside names, and any size beside a number,
   * which is the result's. Sums beside names and two formulas, such as those of a skip connection, are taken not to be.
   */
  #mayBeOne(size: Dim, sizes: readonly Dim[]): boolean {
    if (typeof size !== 'object') return typeof size === 'string';
    if (this.#parts.has(formatDim(size))) return true;
    if (proveLess(1, size)) return false;
    const others = sizes.filter((other) => !proveEqual(size, other));
    if (others.some((other) => typeof other === 'number')) return true;
    const isBesideNames = others.every((other) => typeof other === 'string');
    return isBesideNames && size.op !== 'add' && !isClamped(size);
  }
}

function isClamped(size: Dim): boolean {
  return has(size, ({ op }) => op === 'min' || op === 'max');
}

function has(size: Dim, test: (part: DimExpression) => boolean): boolean {
  if (typeof size !== 'object') return false;
  return test(size) || has(size.left, test) || has(size.right, test);
}

/** The sizes that are not 1, equal ones once. */
function distinct(sizes: readonly Dim[]): Dim[] {
  const found: Dim[] = [];
  for (const size of sizes) {
    if (size !== 1 && !found.some((other) => proveEqual(other, size))) found.push(size);
  }
  return found;
}
