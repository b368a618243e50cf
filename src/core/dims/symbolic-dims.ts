import {
  NO_FACTS,
  proveDifferent,
  proveEqual,
  proveLess,
  proveLessEqual,
  simplifyDim,
} from './dim-algebra.ts';
import type { DimFacts } from './dim-bounds.ts';
import type { DimContext } from './dim-context.ts';
import { isTooLong, MAX_DIM_OPERATIONS } from './dim-length.ts';
import { sameDim } from './dim-symbols.ts';
import { applyDimOperator, type Dim, type DimOperator, formatDim } from './dim.ts';
import { CompileLimitError, type Complaint, complaintText, ShapeError } from '../errors.ts';
import { formatShape } from '../tensor/shape.ts';

/** Two dimensions that have to be equal when the program runs; nothing proves it before. */
export interface DimCheck {
  readonly left: Dim;
  readonly right: Dim;
  /** The operator's words when they are not, with symbols in place of numbers. */
  readonly message: string;
}

/** Arithmetic of symbols: results are in canonical form, what cannot be proved becomes a check. */
export class SymbolicDims implements DimContext<Dim> {
  readonly #facts: DimFacts;
  readonly #checks: DimCheck[] = [];

  constructor(facts: DimFacts = NO_FACTS) {
    this.#facts = facts;
  }

  /** Checks in the order of their requirements, each pair once. */
  get checks(): readonly DimCheck[] {
    return this.#checks;
  }

  of(dim: Dim): Dim {
    return simplifyDim(dim, this.#facts);
  }

  known(dim: Dim): number | undefined {
    return typeof dim === 'number' ? dim : undefined;
  }

  unknown(): Dim {
    return '?';
  }

  add(left: Dim, right: Dim): Dim {
    return this.#apply('add', left, right);
  }

  sub(left: Dim, right: Dim): Dim {
    return this.#apply('sub', left, right);
  }

  mul(left: Dim, right: Dim): Dim {
    return this.#apply('mul', left, right);
  }

  floordiv(left: Dim, right: Dim): Dim {
    return this.#apply('floordiv', left, right);
  }

  mod(left: Dim, right: Dim): Dim {
    return this.#apply('mod', left, right);
  }

  min(left: Dim, right: Dim): Dim {
    return this.#apply('min', left, right);
  }

  max(left: Dim, right: Dim): Dim {
    return this.#apply('max', left, right);
  }

  requireEqual(left: Dim, right: Dim, complaint: () => Complaint): Dim {
    const isSame = left === right && left !== '?';
    if (!isSame && !proveEqual(left, right, this.#facts)) {
      if (proveDifferent(left, right, this.#facts)) throw new ShapeError(complaint());
      this.#check(left, right, complaint);
    }
    return termsOf(right) < termsOf(left) ? right : left;
  }

  requireAtMost(left: Dim, right: Dim, complaint: () => Complaint): void {
    if (proveLessEqual(left, right, this.#facts)) return;
    if (proveLess(right, left, this.#facts)) throw new ShapeError(complaint());
    this.#check(this.min(left, right), left, complaint);
  }

  broadcast(shapes: readonly (readonly Dim[])[], where: string): Dim[] {
    const rank = Math.max(0, ...shapes.map((shape) => shape.length));
    const result = new Array<Dim>(rank).fill(1);
    for (const shape of shapes) {
      for (const [i, dim] of shape.entries()) {
        const axis = rank - shape.length + i;
        const known = result[axis] ?? 1;
        if (dim === 1) continue;
        result[axis] =
          known === 1
            ? dim
            : this.#broadcastDims(known, dim, () => ({
                where,
                got: shapes.map((of) => formatShape(of.map(formatDim))).join(' and '),
                expected: `shapes that broadcast (dimension ${axis - rank} is ${formatDim(known)} and ${formatDim(dim)})`,
                remedy: 'Dimensions must be equal or 1, aligned from the right.',
              }));
      }
    }
    return result;
  }

  #broadcastDims(left: Dim, right: Dim, complaint: () => Complaint): Dim {
    const [from, to] = this.#isAtMostOne(right) ? [right, left] : [left, right];
    return this.#isAtMostOne(from)
      ? this.requireRepeats(from, to, complaint)
      : this.requireEqual(from, to, complaint);
  }

  requireRepeats(from: Dim, to: Dim, complaint: () => Complaint): Dim {
    if (from === 1 || (from !== '?' && proveEqual(from, to, this.#facts))) return to;
    const isOneSize = from === '?' || to === '?' || proveDifferent(from, 1, this.#facts);
    if (isOneSize) return this.requireEqual(from, to, complaint);
    // 1 where `from` is 1, else 0.
    const isOne = this.max(this.min(from, this.sub(2, from)), 0);
    this.requireEqual(this.add(from, this.mul(this.sub(to, from), isOne)), to, complaint);
    return to;
  }

  fixedSpan(start: Dim | undefined, end: Dim | undefined, size: Dim): Dim | undefined {
    if (start === undefined || end === undefined) return undefined;
    if (typeof start === 'number' || typeof end === 'number') return undefined;
    const count = this.sub(end, start);
    if (typeof count !== 'number' || count < 0) return undefined;
    this.requireAtMost(this.of(end), size, () => ({
      where: 'slice: attribute ends',
      got: formatDim(end),
      expected: `at most the size of the axis, ${formatDim(size)}`,
    }));
    return count;
  }

  /** Returns true for a symbolic dimension that is certainly 0 or 1. */
  #isAtMostOne(dim: Dim): boolean {
    return typeof dim === 'object' && sameDim(this.min(dim, 1), dim);
  }

  #apply(op: DimOperator, left: Dim, right: Dim): Dim {
    if (typeof left === 'number' && typeof right === 'number') {
      const value = applyDimOperator(op, left, right);
      if (value !== undefined) return value;
    }
    const dim = simplifyDim({ op, left, right }, this.#facts);
    if (!isTooLong(dim)) return dim;
    throw new CompileLimitError({
      where: 'size',
      got: `a formula of more than ${MAX_DIM_OPERATIONS} operations`,
      expected: 'a shorter one',
      remedy: 'Give symbolic dimensions numbers when the model is compiled.',
    });
  }

  #check(left: Dim, right: Dim, complaint: () => Complaint): void {
    const isKnown = this.#checks.some(
      (check) => sameDim(check.left, left) && sameDim(check.right, right),
    );
    if (!isKnown) this.#checks.push({ left, right, message: complaintText(complaint()) });
  }
}

/** How much there is to compute; nothing for a number. */
function termsOf(dim: Dim): number {
  if (typeof dim === 'number') return 0;
  return typeof dim === 'string' ? 1 : 1 + termsOf(dim.left) + termsOf(dim.right);
}
