import { DISPOSE } from '../core/async/dispose-symbols.ts';
import type { Dim } from '../core/dims/dim.ts';
import type { DType, TypedArray } from '../core/tensor/dtype.ts';
import {
  checkOptions,
  type OptionKind,
  type OptionKinds,
  requireKind,
  requireMaker,
} from '../core/check-options.ts';
import { UsageError } from '../core/errors.ts';
import type { Attributes, AttributeValue } from '../core/contracts/primitive-function.ts';
import { SymbolicDims } from '../core/dims/symbolic-dims.ts';
import { normalizeAxis } from '../core/tensor/shape.ts';
import { formatType } from '../compiler/ir/type.ts';
import { type NestedArray, Tensor } from '../client/values/tensor.ts';
import { apply } from './apply.ts';
import { ArrayState, type HasState, stateOfTensor } from './array-state.ts';
import { placeOf, within } from './call-site.ts';
import { disposeState } from './eager/pending.ts';
import { readState } from './eager/read-state.ts';
import { addToScope } from './eager/scope.ts';
import { type Index, sliceCalls } from './index-array.ts';
import { type Operand, tensorOf } from './operand.ts';

/** Axes that a reduction runs over, and whether they stay, with size 1. */
export interface ReduceOptions {
  /** Keeps the axes that were reduced, with size 1. Default: false. */
  readonly keepDims?: boolean;
  /** The same, as NumPy spells it. */
  readonly keepdims?: boolean;
}

/**
 * An array of numbers with a dtype and a shape. In the body of a program it stands for what the program will
 * compute, and its sizes may be names. Elsewhere it is eager: methods say what is to be computed, which begins
 * when elements are read or enough calls wait.
 */
export class NdArray implements HasState {
  /** @internal */
  readonly state: ArrayState;

  /** @internal */
  constructor(state: ArrayState) {
    requireMaker('array', state instanceof ArrayState);
    this.state = state;
  }

  static {
    // Errors of all methods name the line that called them, and no argument is dropped in silence.
    const lists = new Set(['reshape', 'transpose', 'broadcastTo', 'slice']);
    for (const name of Object.getOwnPropertyNames(this.prototype)) {
      const method: unknown = Object.getOwnPropertyDescriptor(this.prototype, name)?.value;
      if (typeof method !== 'function' || name === 'constructor') continue;
      const most = lists.has(name) ? Infinity : method.length;
      const entry = function (this: NdArray, ...args: readonly unknown[]): unknown {
        return within(entry, () => Reflect.apply(method, this, args), [name, args, most]);
      };
      Object.defineProperty(this.prototype, name, {
        value: entry,
        configurable: true,
        writable: true,
      });
    }
  }

  /** The dtype of its elements. */
  get dtype(): DType {
    return this.state.type.dtype;
  }

  /** Its sizes, the outermost first; names in a program that leaves them open. */
  get shape(): readonly Dim[] {
    return this.state.type.shape;
  }

  /** How many axes it has. */
  get ndim(): number {
    return this.shape.length;
  }

  /** The sum, element by element; shapes broadcast. */
  add(other: Operand): NdArray {
    return this.#call('add', [other]);
  }

  /** The difference, element by element. */
  sub(other: Operand): NdArray {
    return this.#call('sub', [other]);
  }

  /** The product, element by element. */
  mul(other: Operand): NdArray {
    return this.#call('mul', [other]);
  }

  /** The quotient, element by element. */
  div(other: Operand): NdArray {
    return this.#call('div', [other]);
  }

  /** The power, element by element. */
  pow(exponent: Operand): NdArray {
    return this.#call('pow', [exponent]);
  }

  /** The remainder, with the sign of the divisor. */
  mod(divisor: Operand): NdArray {
    return this.#call('mod', [divisor]);
  }

  /** The larger one, element by element. */
  maximum(other: Operand): NdArray {
    return this.#call('maximum', [other]);
  }

  /** The smaller one, element by element. */
  minimum(other: Operand): NdArray {
    return this.#call('minimum', [other]);
  }

  /** True where the elements are equal. */
  equal(other: Operand): NdArray {
    return this.#call('equal', [other]);
  }

  /** True where the elements differ. */
  notEqual(other: Operand): NdArray {
    return wrap(apply('logical_not', [apply1('equal', this, other)]));
  }

  /** True where the elements are less than those of `other`. */
  less(other: Operand): NdArray {
    return this.#call('less', [other]);
  }

  /** True where the elements are less than those of `other`, or equal. */
  lessEqual(other: Operand): NdArray {
    return this.#call('less_equal', [other]);
  }

  /** True where the elements are greater than those of `other`. */
  greater(other: Operand): NdArray {
    return this.#call('greater', [other]);
  }

  /** True where the elements are greater than those of `other`, or equal. */
  greaterEqual(other: Operand): NdArray {
    return this.#call('greater_equal', [other]);
  }

  /** True where both are true; of integers, the bits that both have. */
  and(other: Operand): NdArray {
    return this.#call('bitwise_and', [other]);
  }

  /** True where either is true; of integers, the bits that either has. */
  or(other: Operand): NdArray {
    return this.#call('bitwise_or', [other]);
  }

  /** True where the elements are false. */
  not(): NdArray {
    return this.#call('logical_not');
  }

  /** The elements with the other sign. */
  neg(): NdArray {
    return this.#call('neg');
  }

  /** The elements without their sign. */
  abs(): NdArray {
    return this.#call('abs');
  }

  /** The signs of the elements: -1, 0 or 1. */
  sign(): NdArray {
    return this.#call('sign');
  }

  /** e to the power of each element. */
  exp(): NdArray {
    return this.#call('exp');
  }

  /** The natural logarithm. */
  log(): NdArray {
    return this.#call('log');
  }

  /** The square root. */
  sqrt(): NdArray {
    return this.#call('sqrt');
  }

  /** The elements times themselves. */
  square(): NdArray {
    return wrap(apply('mul', [this, this]));
  }

  /** The sine. */
  sin(): NdArray {
    return this.#call('sin');
  }

  /** The cosine. */
  cos(): NdArray {
    return this.#call('cos');
  }

  /** The hyperbolic tangent. */
  tanh(): NdArray {
    return this.#call('tanh');
  }

  /** 1 / (1 + exp(-x)). */
  sigmoid(): NdArray {
    return this.#call('sigmoid');
  }

  /** The elements, 0 instead of negative ones. */
  relu(): NdArray {
    return this.#call('relu');
  }

  /** The largest integers that are not greater. */
  floor(): NdArray {
    return this.#call('floor');
  }

  /** The elements between two bounds. */
  clip(min: number, max: number): NdArray {
    requireKind(placeOf('clip'), 'number', ['min', min]);
    requireKind(placeOf('clip'), 'number', ['max', max]);
    return this.#call('clip', [], { min, max });
  }

  /** The elements as another dtype. */
  astype(dtype: DType): NdArray {
    return this.#call('cast', [], { to: dtype });
  }

  /** The matrix product; leading axes are those of a batch and broadcast. */
  matmul(other: Operand): NdArray {
    return this.#call('matmul', [other]);
  }

  /** The sum over axes, all by default. */
  sum(axes?: number | readonly number[], options?: ReduceOptions): NdArray {
    return this.#reduce('sum', 'reduce_sum', [axes, options]);
  }

  /** The mean over axes, all by default. */
  mean(axes?: number | readonly number[], options?: ReduceOptions): NdArray {
    return this.#reduce('mean', 'reduce_mean', [axes, options]);
  }

  /** The product over axes, all by default. */
  prod(axes?: number | readonly number[], options?: ReduceOptions): NdArray {
    return this.#reduce('prod', 'reduce_prod', [axes, options]);
  }

  /** The largest element over axes, all by default. */
  max(axes?: number | readonly number[], options?: ReduceOptions): NdArray {
    return this.#reduce('max', 'reduce_max', [axes, options]);
  }

  /** The smallest element over axes, all by default. */
  min(axes?: number | readonly number[], options?: ReduceOptions): NdArray {
    return this.#reduce('min', 'reduce_min', [axes, options]);
  }

  /** The places of the largest elements along an axis, which is dropped, or among all elements, row by row: int64. */
  argmax(axis?: number, options?: ReduceOptions): NdArray {
    return this.#argument('argmax', 'arg_max', [axis, options]);
  }

  /** The places of the smallest elements along an axis, which is dropped, or among all elements, row by row: int64. */
  argmin(axis?: number, options?: ReduceOptions): NdArray {
    return this.#argument('argmin', 'arg_min', [axis, options]);
  }

  /** Running sums along an axis, by default the first. */
  cumsum(axis?: number): NdArray {
    return this.#call('cumulative', [], { axis });
  }

  /** Exponentials that add up to 1 along an axis, by default the last. */
  softmax(axis?: number): NdArray {
    return this.#call('softmax', [], { axis });
  }

  /** The logarithm of {@link softmax}. */
  logSoftmax(axis?: number): NdArray {
    return this.#call('log_softmax', [], { axis });
  }

  /** The same elements in another shape, in which one size may be -1: what is left for it. */
  reshape(...shape: readonly Dim[] | readonly [readonly Dim[]]): NdArray {
    const dims = withRest(listOfArguments('reshape', shape), this.shape);
    return wrap(apply('reshape', [this], { shape: dims }));
  }

  /** All elements along one axis. */
  flatten(): NdArray {
    return this.reshape(-1);
  }

  /** The axes in another order, reversed by default. */
  transpose(...perm: readonly number[] | readonly [readonly number[]]): NdArray {
    const given = listOfArguments('transpose', perm);
    const axes = given.length > 0 ? given : this.shape.map((_, axis) => this.ndim - 1 - axis);
    const order = axes.map((axis) => normalizeAxis(axis, this.ndim, 'transpose'));
    return wrap(apply('transpose', [this], { perm: order }));
  }

  /** A new axis of size 1 before an axis. */
  expandDims(axis: number): NdArray {
    const at = normalizeAxis(axis, this.ndim + 1, 'expandDims');
    return this.reshape([...this.shape.slice(0, at), 1, ...this.shape.slice(at)]);
  }

  /** Without axes of size 1: one, or all. */
  squeeze(axis?: number): NdArray {
    const at = axis === undefined ? undefined : normalizeAxis(axis, this.ndim, 'squeeze');
    const size = this.shape[at ?? -1];
    const isOne = at === undefined || typeof size !== 'number' || size === 1;
    requireKind(placeOf('squeeze'), ['one of size 1', () => isOne], [`axis ${axis} of size`, size]);
    return this.reshape(this.shape.filter((dim, i) => (at === undefined ? dim !== 1 : i !== at)));
  }

  /** The elements repeated along axes of size 1. */
  broadcastTo(...shape: readonly Dim[] | readonly [readonly Dim[]]): NdArray {
    return this.#call('broadcast_to', [], {
      shape: listOfArguments('broadcastTo', shape),
    });
  }

  /**
   * A part, axis by axis: a number takes one place and drops the axis, `[begin, end]` a range, `[begin, end, step]`
   * every so manieth place, an array of integers the places that it holds, `null` all. Negative places count from
   * the end. `x.slice(0, [1, 3])` is NumPy's `x[0, 1:3]`.
   */
  slice(...indices: readonly Index[]): NdArray {
    return wrap(sliceCalls(this.state, indices));
  }

  /**
   * Waits for the elements, row by row: a `Float32Array` for float32. Rejects with RuntimeError where the
   * computation fails, and with DeviceLostError.
   */
  async data(): Promise<TypedArray> {
    return (await this.read()).data;
  }

  /** Waits for the elements, with dtype and shape. Rejects as {@link data} does. */
  read(): Promise<Tensor> {
    return readState(this.state);
  }

  /** Waits for the elements as nested arrays of numbers. Rejects as {@link data} does. */
  async toArray(): Promise<NestedArray> {
    return (await this.read()).toNested();
  }

  /** Waits for the only element. Rejects as {@link data} does. */
  async item(): Promise<number> {
    const where = placeOf('item');
    const { data } = await this.read();
    requireKind(where, ['one element', () => data.length === 1], ['an array with', data.length]);
    return Number(data[0]);
  }

  /**
   * Frees the memory of an eager array. What was computed of it stays good. Without effect in the body of a
   * program. Idempotent.
   */
  dispose(): void {
    if (this.state.frame === undefined) disposeState(this.state);
  }

  /** Calls {@link dispose} at the end of a block with `using`. */
  [DISPOSE](): void {
    this.dispose();
  }

  /** Its type: `Tensor[(n, 4), float32]`. */
  toString(): string {
    return formatType(this.state.type);
  }

  /** Its type in a text. Throws UsageError for an operator of JavaScript, which gives no array. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return this.toString();
    const expected = 'methods, such as x.add(1) and x.less(y)';
    const got = `${this.toString()} in arithmetic of JavaScript`;
    throw new UsageError({ where: placeOf('program')(), got, expected });
  }

  #call(
    op: string,
    others: readonly Operand[] = [],
    attributes: Readonly<Record<string, AttributeValue | undefined>> = {},
  ): NdArray {
    return wrap(apply(op, [this, ...others], attributes as Attributes));
  }

  #reduce(method: MethodName, op: string, [axes = [], options]: Reduction): NdArray {
    const keepdims = keepsDims(method, options);
    requireKind(placeOf(method), AXES, ['axes', axes]);
    // An operator takes no axes for all of them.
    if (Array.isArray(axes) && axes.length === 0 && this.ndim === 0) return this;
    const list = typeof axes === 'number' ? [axes] : axes;
    return wrap(apply(op, [this], { axes: list, keepdims }));
  }

  #argument(
    method: MethodName,
    op: string,
    [axis, options]: readonly [number | undefined, ReduceOptions | undefined],
  ): NdArray {
    const isKept = keepsDims(method, options);
    if (axis !== undefined) requireKind(placeOf(method), 'integer', ['axis', axis]);
    const whole = axis === undefined ? this.reshape(-1) : this;
    const kept = wrap(apply(op, [whole], { axis: axis ?? 0 }));
    if (axis !== undefined) return isKept ? kept : kept.squeeze(axis);
    return kept.reshape(isKept ? this.shape.map(() => 1) : []);
  }
}

type MethodName = keyof NdArray & string;
type Reduction = readonly [number | readonly number[] | undefined, ReduceOptions | undefined];

const AXES: OptionKind = [
  'an integer or a list of integers',
  (value) => [value].flat().every(Number.isSafeInteger),
];

const REDUCE_OPTIONS: OptionKinds<ReduceOptions> = { keepDims: 'boolean', keepdims: 'boolean' };

function keepsDims(method: string, options: ReduceOptions | undefined): boolean {
  if (options === undefined) return false;
  checkOptions<ReduceOptions>(placeOf(method), options, REDUCE_OPTIONS);
  return options.keepDims ?? options.keepdims ?? false;
}

export function wrap(state: ArrayState): NdArray {
  return new NdArray(state);
}

function apply1(op: string, ...operands: readonly Operand[]): NdArray {
  return wrap(apply(op, operands));
}

function listOfArguments<T>(
  method: string,
  given: readonly T[] | readonly [readonly T[]],
): readonly T[] {
  const [first] = given;
  if (!Array.isArray(first)) return given as readonly T[];
  requireKind(placeOf(method), ['one list', () => given.length === 1], ['arguments', given]);
  return first as readonly T[];
}

function withRest(dims: readonly Dim[], whole: readonly Dim[]): readonly Dim[] {
  const at = dims.indexOf(-1);
  if (at < 0) return dims;
  const isOnly = dims.lastIndexOf(-1) === at;
  requireKind(placeOf('reshape'), ['at most one size of -1', () => isOnly], ['sizes', dims]);
  const symbolic = new SymbolicDims();
  const product = (sizes: readonly Dim[]): Dim =>
    sizes.reduce((all, dim) => symbolic.mul(all, dim), 1);
  const rest = symbolic.floordiv(product(whole), product(dims.filter((_, i) => i !== at)));
  return dims.map((dim, i) => (i === at ? rest : dim));
}

/**
 * An array of numbers: a number, nested arrays, a typed array or a `Tensor`. Without `dtype`, numbers become
 * float32, bigints int64, booleans bool. In the body of a program it is a constant.
 */
export function array(values: Operand, dtype?: DType, shape?: readonly number[]): NdArray {
  return within(array, () => {
    if (values instanceof NdArray) {
      const cast = dtype === undefined || dtype === values.dtype ? values : values.astype(dtype);
      return shape === undefined ? cast : cast.reshape(shape);
    }
    const given = values as Exclude<Operand, HasState>;
    const isWhole = given instanceof Tensor;
    const tensor =
      isWhole || shape === undefined ? tensorOf(given, dtype) : Tensor.from(given, dtype, shape);
    const state = stateOfTensor(tensor);
    if (state.frame === undefined) addToScope(state);
    return isWhole ? array(wrap(state), dtype, shape) : wrap(state);
  }, ['array', arguments, 3]);
}
