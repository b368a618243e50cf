import { type Dim, formatDim } from './dim.ts';
import { type Complaint, internalError, ShapeError } from '../errors.ts';
import { broadcastShapes } from '../tensor/shape.ts';

/**
 * The arithmetic that shape rules are written in, so that one rule serves numbers and symbols:
 * `D` is `number` on devices and {@link Dim} in the compiler.
 *
 * A requirement that does not hold throws ShapeError. One that cannot be decided is a check that
 * the program makes when it runs.
 */
export interface DimContext<D extends Dim> {
  /** A dimension from an attribute or a literal. */
  of(dim: Dim): D;
  /** The dimension as a number where it is one. */
  known(dim: D): number | undefined;
  /** A dimension that depends on elements: `'?'`, and -1 among numbers. */
  unknown(): D;
  /** The sum. */
  add(left: D, right: Dim): D;
  /** The difference. */
  sub(left: D, right: Dim): D;
  /** The product. */
  mul(left: D, right: Dim): D;
  /** Rounds towards minus infinity. */
  floordiv(left: D, right: Dim): D;
  /** The remainder of {@link floordiv}. */
  mod(left: D, right: Dim): D;
  /** The lesser one. */
  min(left: D, right: Dim): D;
  /** The greater one. */
  max(left: D, right: Dim): D;
  /** Requires that both are equal. Gives the one that says more: a number rather than a symbol. */
  requireEqual(left: D, right: Dim, complaint: () => Complaint): D;
  /** Requires that `from` is `to`, or is 1 and is repeated. */
  requireRepeats(from: D, to: D, complaint: () => Complaint): D;
  /**
   * The length of a part between two positions of an axis that is the same for all symbols. Such a
   * part has to lie inside, since clamped it would be shorter at the end.
   */
  fixedSpan(start: Dim | undefined, end: Dim | undefined, size: D): D | undefined;
  /** Requires that `left` is at most `right`. */
  requireAtMost(left: D, right: Dim, complaint: () => Complaint): void;
  /**
   * Numpy broadcasting. A symbol is taken not to be 1: against a number other than 1 or another
   * symbol it has to be equal. (`requireRepeats` knows that it may be 1.)
   */
  broadcast(shapes: readonly (readonly D[])[], where: string): D[];
}

/** Arithmetic of numbers: decides everything at once. */
export const CONCRETE_DIMS: DimContext<number> = {
  of: number,
  known: (dim) => dim,
  unknown: () => -1,
  add: (left, right) => left + number(right),
  sub: (left, right) => left - number(right),
  mul: (left, right) => left * number(right),
  floordiv: (left, right) => Math.floor(left / number(right)),
  mod: (left, right) => left - Math.floor(left / number(right)) * number(right),
  min: (left, right) => Math.min(left, number(right)),
  max: (left, right) => Math.max(left, number(right)),
  requireEqual(left, right, complaint) {
    if (left !== right) throw new ShapeError(complaint());
    return left;
  },
  requireRepeats: (from, to, complaint) =>
    from === 1 ? to : CONCRETE_DIMS.requireEqual(from, to, complaint),
  fixedSpan: () => undefined,
  requireAtMost(left, right, complaint) {
    if (left > number(right)) throw new ShapeError(complaint());
  },
  broadcast: broadcastShapes,
};

function number(dim: Dim): number {
  if (typeof dim === 'number') return dim;
  throw internalError(`the symbolic dimension ${formatDim(dim)} where numbers are computed`);
}

export function countElements<D extends Dim>(shape: readonly D[], dims: DimContext<D>): D {
  return shape.reduce((count, dim) => dims.mul(count, dim), dims.of(1));
}
