import { MakeCode, MatchCode } from '../bytecode/builtins.ts';
import type { ShapeStep } from '../bytecode/executable.ts';
import type { Operand, OperandLike } from '../bytecode/function-builder.ts';
import { type Dim, formatDim } from '../core/dim.ts';
import { UnsupportedError } from '../core/errors.ts';
import type { TensorType } from '../core/primitive-function.ts';
import { byteLengthOf } from './byte-length.ts';
import type { Emitter } from './emitter.ts';

/**
 * The shape heap of a function: a slot for each symbol and for each dimension that is computed.
 * Every slot is declared before the first instruction, because the heap has a fixed size. What is
 * known in a branch is forgotten after it.
 */
export class ShapeSlots {
  readonly #emitter: Emitter;
  readonly #slots = new Map<string, number>();
  #known = new Set<string>();
  #heap: Operand | undefined;

  constructor(emitter: Emitter) {
    this.#emitter = emitter;
  }

  /** Reserves what {@link shapeOf} and {@link byteLengthOf} a tensor of this type need. */
  declare(type: TensorType): void {
    if (type.shape.every((dim) => typeof dim === 'number')) return;
    for (const dim of type.shape) this.#reserve(dim);
    if (!type.shape.includes('?')) this.#reserve(byteLengthOf(type));
  }

  declareDim(dim: Dim): void {
    this.#reserve(dim);
  }

  /** Makes the heap, when `isNeeded` says so or a slot was declared. */
  begin(isNeeded: boolean): void {
    if (!isNeeded && this.#slots.size === 0) return;
    this.#heap = this.#emitter.builtin('alloc_shape_heap', [this.#slots.size]);
  }

  /** Drops the heap when nothing but checks of constant shapes used it. */
  endChecks(): void {
    if (this.#heap !== undefined && this.#slots.size === 0) this.#emitter.kill(this.#heap);
  }

  get heap(): Operand {
    if (this.#heap === undefined) throw new Error('internal: the function has no shape heap');
    return this.#heap;
  }

  /** What is known now, to be restored at the end of a branch. */
  save(): ReadonlySet<string> {
    return new Set(this.#known);
  }

  restore(known: ReadonlySet<string>): void {
    this.#known = new Set(known);
  }

  /** Whether a value of this type tells something that is not known yet. */
  tells({ shape }: TensorType): boolean {
    return shape.some((dim) => isSymbol(dim) && !this.#known.has(dim));
  }

  /**
   * Checks a tensor's rank and dimensions against a type, and learns the symbols that stand there
   * alone. `context` says where in a message.
   */
  match(tensor: Operand, { shape }: TensorType, context: OperandLike): void {
    const bound: string[] = [];
    const later: [number, Dim][] = [];
    const pairs = shape.flatMap((dim, axis): [number, OperandLike] => {
      if (typeof dim === 'number') return [MatchCode.assertImmediate, dim];
      if (dim === '?') return [MatchCode.ignore, 0];
      if (typeof dim === 'object') {
        later.push([axis, dim]);
        return [MatchCode.ignore, 0];
      }
      if (this.#known.has(dim) || bound.includes(dim)) {
        return [MatchCode.assertSlot, this.#slot(dim)];
      }
      bound.push(dim);
      return [MatchCode.store, this.#slot(dim)];
    });
    this.#emitter.builtin('match_shape', [tensor, this.heap, shape.length, ...pairs, context]);
    for (const symbol of bound) this.#known.add(symbol);
    this.matchComputed(tensor, { rank: shape.length, later, context });
  }

  /** Checks dimensions such as `n + 1` of a tensor, those whose symbols are known. */
  matchComputed(
    tensor: Operand,
    {
      rank,
      later,
      context,
    }: { rank: number; later: readonly [number, Dim][]; context: OperandLike },
  ): void {
    const checked = new Map(later.filter(([, dim]) => this.#isComputable(dim)));
    if (checked.size === 0) return;
    this.compute([...checked.values()]);
    const pairs = Array.from({ length: rank }, (_, axis) => {
      const dim = checked.get(axis);
      return dim === undefined ? [MatchCode.ignore, 0] : [MatchCode.assertSlot, this.#slot(dim)];
    }).flat();
    this.#emitter.builtin('match_shape', [tensor, this.heap, rank, ...pairs, context]);
  }

  /** Stops the program unless two dimensions are equal. */
  requireEqual(left: Dim, right: Dim, context: OperandLike): void {
    this.compute([left, right]);
    const shape = this.shapeOf([left]);
    const pair =
      typeof right === 'number'
        ? [MatchCode.assertImmediate, right]
        : [MatchCode.assertSlot, this.#slot(right)];
    this.#emitter.builtin('match_shape', [shape, this.heap, 1, ...pair, context]);
  }

  /** A shape constant, or a shape made from slots. */
  shapeOf(shape: readonly Dim[], where = 'a result'): Operand {
    if (shape.every((dim) => typeof dim === 'number')) return this.#emitter.shape(shape);
    this.compute(shape, where);
    const pairs = shape.flatMap((dim) =>
      typeof dim === 'number' ? [MakeCode.immediate, dim] : [MakeCode.slot, this.#slot(dim)],
    );
    return this.#emitter.builtin('make_shape', [this.heap, shape.length, ...pairs]);
  }

  /** A dimension as an int. */
  int(dim: Dim, into?: Operand): OperandLike {
    if (typeof dim === 'number') return dim;
    this.compute([dim]);
    return this.#emitter.builtin('load_shape', [this.heap, this.#slot(dim)], into);
  }

  #isComputable(dim: Dim): boolean {
    if (typeof dim === 'number') return true;
    if (typeof dim === 'string') return this.#known.has(dim);
    return this.#isComputable(dim.left) && this.#isComputable(dim.right);
  }

  /** Fills the slots of dimensions that have not been computed on the way here. */
  compute(dims: readonly Dim[], where = 'a dimension'): void {
    const steps: ShapeStep[] = [];
    for (const dim of dims) {
      if (typeof dim === 'number' || this.#known.has(formatDim(dim))) continue;
      this.#push(dim, steps, where);
      steps.push({ op: 'store', slot: this.#slot(dim) });
      this.#known.add(formatDim(dim));
    }
    if (steps.length === 0) return;
    this.#emitter.builtin('compute_shape', [this.heap, this.#emitter.shapeProgram(steps)]);
  }

  #push(dim: Dim, steps: ShapeStep[], where: string): void {
    if (typeof dim === 'number') steps.push({ op: 'const', value: dim });
    else if (this.#known.has(formatDim(dim))) steps.push({ op: 'load', slot: this.#slot(dim) });
    else if (typeof dim === 'object') {
      this.#push(dim.left, steps, where);
      this.#push(dim.right, steps, where);
      steps.push({ op: dim.op });
    } else {
      throw new UnsupportedError({
        where,
        got: dim === '?' ? 'an unknown dimension' : `the dimension ${dim}, which no value here has`,
        expected: 'dimensions that follow from those of parameters',
        remedy: 'Compute this in a global function that names the dimension in a parameter.',
      });
    }
  }

  #reserve(dim: Dim): void {
    if (typeof dim === 'number') return;
    const key = formatDim(dim);
    if (key !== '?' && !this.#slots.has(key)) this.#slots.set(key, this.#slots.size);
    if (typeof dim !== 'object') return;
    for (const symbol of symbolsOf(dim)) this.#reserve(symbol);
  }

  #slot(dim: Dim): number {
    const slot = this.#slots.get(formatDim(dim));
    if (slot === undefined) throw new Error(`internal: no slot for dimension ${formatDim(dim)}`);
    return slot;
  }
}

/** The names in a dimension, once each. */
export function symbolsOf(dim: Dim): readonly string[] {
  const found = new Set<string>();
  const work: Dim[] = [dim];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (typeof next === 'object') work.push(next.right, next.left);
    else if (isSymbol(next)) found.add(next);
  }
  return [...found];
}

export function isSymbol(dim: Dim): dim is string {
  return typeof dim === 'string' && dim !== '?';
}
