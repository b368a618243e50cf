import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { byteLengthOf } from '../../ir/byte-length.ts';
import type { Step } from '../../ir/walk/block.ts';
import { call, int, variableOf } from '../../ir/build.ts';
import { type CallExpr, type Expr, formatSpan, type Span, type VarExpr } from '../../ir/expr.ts';
import { withPlace } from '../../ir/place.ts';
import {
  COMPUTE_SHAPE,
  LOAD_SHAPE,
  MAKE_SHAPE,
  MATCH_SHAPE,
  SHAPE_HEAP,
} from '../../ir/operators/shape-operators.ts';
import {
  INT_TYPE,
  isSymbol,
  SHAPE_HEAP_TYPE,
  SHAPE_TYPE,
  type Type,
  UNIT_TYPE,
} from '../../ir/type.ts';

/** Dimensions of a tensor by axis that are formulas. */
interface ComputedDims {
  readonly rank: number;
  readonly later: readonly (readonly [axis: number, dim: Dim])[];
  readonly context: string;
}

/**
 * The shape heap of a function: a slot for each symbol and for each dimension that is computed.
 * Every slot is declared before the first instruction, because the heap has a fixed size. What is
 * known in a branch is forgotten after it.
 */
export class ShapeSlots {
  /** The steps to which calls are added. */
  #steps: Step[] = [];
  readonly #slots = new Map<string, number>();
  #known = new Set<string>();
  #heap: VarExpr | undefined;
  /**
   * Computed dimensions that could not be compared where their tensor was bound, because symbols in
   * them were unknown.
   */
  #open: (ComputedDims & { readonly tensor: Expr })[] = [];
  #counts = { shape: 0, size: 0 };
  #span: Span | undefined;

  /** Writes to these steps from now on; gives those before. */
  writeTo(steps: Step[]): Step[] {
    const before = this.#steps;
    this.#steps = steps;
    return before;
  }

  /** Calls from now on stand for what is at this place in the source. */
  at(span: Span | undefined): void {
    this.#span = span ?? this.#span;
  }

  /** Binds a call that gives nothing. */
  emit(value: CallExpr): void {
    this.#steps.push({ variable: variableOf('_', UNIT_TYPE), value: withPlace(value, this.#span) });
  }

  /** Binds a value to a new variable. */
  bind(value: Expr, name: string, type: Type): VarExpr {
    const variable = variableOf(name, type);
    this.#steps.push({ variable, value: withPlace(value, this.#span) });
    return variable;
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

  /** Makes the heap, when `isNeeded` says so or a slot was declared, and tells whether it did. */
  begin(isNeeded: boolean): boolean {
    if (!isNeeded && this.#slots.size === 0) return false;
    const heap = call(SHAPE_HEAP, [], { slots: this.#slots.size });
    this.#heap = this.bind(heap, 'h', SHAPE_HEAP_TYPE);
    return true;
  }

  get heap(): VarExpr {
    if (this.#heap === undefined) throw new Error('internal: the function has no shape heap');
    return this.#heap;
  }

  /** The knowledge now, to be restored at the end of a branch. */
  save(): ReadonlySet<string> {
    return new Set(this.#known);
  }

  restore(known: ReadonlySet<string>): void {
    this.#known = new Set(known);
  }

  /** Returns true if a tensor of this type tells a symbol that is not known yet. */
  tells({ shape }: TensorType): boolean {
    return shape.some((dim) => isSymbol(dim) && !this.#known.has(dim));
  }

  /**
   * Checks a tensor's rank and dimensions against a type, and learns the symbols that stand there
   * alone. `context` says where in a message.
   */
  match(tensor: Expr, { shape }: TensorType, context: string): void {
    const bound: string[] = [];
    const later: [number, Dim][] = [];
    const dims = shape.map((dim, axis): string => {
      if (typeof dim === 'number') return String(dim);
      if (dim === '?') return 'any';
      if (typeof dim === 'object') {
        later.push([axis, dim]);
        return 'any';
      }
      if (this.#known.has(dim) || bound.includes(dim)) return `slot ${this.#slot(dim)}`;
      bound.push(dim);
      return `store ${this.#slot(dim)}`;
    });
    this.emit(call(MATCH_SHAPE, [tensor, this.heap], { dims, context }));
    for (const symbol of bound) this.#known.add(symbol);
    this.matchComputed(tensor, { rank: shape.length, later, context });
  }

  /** Checks dimensions such as `n + 1` of a tensor, those whose symbols are known. */
  matchComputed(tensor: Expr, { rank, later, context }: ComputedDims): void {
    const checked = new Map(later.filter(([, dim]) => this.#isComputable(dim)));
    const unknown = later.filter(([, dim]) => !this.#isComputable(dim));
    if (unknown.length > 0) this.#open.push({ tensor, rank, later: unknown, context });
    if (checked.size === 0) return;
    this.compute([...checked.values()]);
    const dims = Array.from({ length: rank }, (_, axis) => {
      const dim = checked.get(axis);
      return dim === undefined ? 'any' : this.#place(dim);
    });
    this.emit(call(MATCH_SHAPE, [tensor, this.heap], { dims, context }));
  }

  /** Checks what {@link match} has left, because a parameter behind the tensor tells the symbols. */
  matchOpen(): void {
    for (const { tensor, ...dims } of this.#open.splice(0)) this.matchComputed(tensor, dims);
    this.#open = [];
  }

  /** Stops the program unless two dimensions are equal. */
  requireEqual(left: Dim, right: Dim, context: string): void {
    this.compute([left, right]);
    const shape = this.#makeShape([left]);
    this.emit(call(MATCH_SHAPE, [shape, this.heap], { dims: [this.#place(right)], context }));
  }

  /** A shape made from slots; undefined for one of numbers. */
  shapeOf(shape: readonly Dim[], where = formatSpan(this.#span, 'a result')): VarExpr | undefined {
    if (shape.every((dim) => typeof dim === 'number')) return undefined;
    this.compute(shape, where);
    return this.#makeShape(shape);
  }

  /** A dimension as an int; undefined for a number. */
  sizeOf(dim: Dim): VarExpr | undefined {
    if (typeof dim === 'number') return undefined;
    return this.bind(this.size(dim), `n${this.#counts.size++}`, INT_TYPE);
  }

  /** A dimension as an int, which is yet to be bound. */
  size(dim: Dim): Expr {
    if (typeof dim === 'number') return int(dim);
    this.compute([dim]);
    return call(LOAD_SHAPE, [this.heap], { slot: this.#slot(dim) }, this.#span);
  }

  #makeShape(shape: readonly Dim[]): VarExpr {
    const made = call(MAKE_SHAPE, [this.heap], { dims: shape.map((dim) => this.#place(dim)) });
    return this.bind(made, `shape${this.#counts.shape++}`, SHAPE_TYPE);
  }

  #place(dim: Dim): string {
    return typeof dim === 'number' ? String(dim) : `slot ${this.#slot(dim)}`;
  }

  /** Fills, by one program, the slots of those dimensions whose symbols are known. */
  computeKnown(dims: readonly Dim[]): void {
    this.compute(dims.filter((dim) => this.#isComputable(dim) && neverFails(dim)));
  }

  #isComputable(dim: Dim): boolean {
    if (typeof dim === 'number') return true;
    if (typeof dim === 'string') return this.#known.has(dim);
    return this.#isComputable(dim.left) && this.#isComputable(dim.right);
  }

  /** Fills the slots of dimensions that have not been computed on the way here. */
  compute(dims: readonly Dim[], where = formatSpan(this.#span, 'a dimension')): void {
    const steps: string[] = [];
    for (const dim of dims) {
      if (typeof dim === 'number' || this.#known.has(formatDim(dim))) continue;
      this.#push(dim, steps, where);
      steps.push(`store ${this.#slot(dim)}`);
      this.#known.add(formatDim(dim));
    }
    if (steps.length === 0) return;
    this.emit(call(COMPUTE_SHAPE, [this.heap], { program: steps }));
  }

  #push(dim: Dim, steps: string[], where: string): void {
    if (typeof dim === 'number') steps.push(`const ${dim}`);
    else if (this.#known.has(formatDim(dim))) steps.push(`load ${this.#slot(dim)}`);
    else if (typeof dim === 'object') {
      this.#push(dim.left, steps, where);
      this.#push(dim.right, steps, where);
      steps.push(dim.op);
    } else {
      throw new UnsupportedError({
        where,
        got: dim === '?' ? 'an unknown dimension' : `the dimension ${dim}, which no value here has`,
        expected: 'dimensions that follow from those of parameters',
        remedy: 'Name the dimension in the type of a parameter of the function.',
      });
    }
  }

  #reserve(dim: Dim): void {
    if (typeof dim === 'number') return;
    const key = formatDim(dim);
    if (key !== '?' && !this.#slots.has(key)) this.#slots.set(key, this.#slots.size);
    if (typeof dim === 'object') forEachSymbol(dim, (symbol) => this.#reserve(symbol));
  }

  #slot(dim: Dim): number {
    const slot = this.#slots.get(formatDim(dim));
    if (slot === undefined) throw new Error(`internal: no slot for dimension ${formatDim(dim)}`);
    return slot;
  }
}

/** Returns true if a dimension has a value for all sizes; a divisor that is no number may be 0. */
function neverFails(dim: Dim): boolean {
  if (typeof dim !== 'object') return true;
  const divides = dim.op === 'floordiv' || dim.op === 'mod';
  if (divides && typeof dim.right !== 'number') return false;
  return neverFails(dim.left) && neverFails(dim.right);
}
