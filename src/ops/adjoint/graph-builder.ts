import { isUnknownDim, sameDim } from '../../core/dims/dim-symbols.ts';
import type { DimContext } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { type DType, isBigInt } from '../../core/tensor/dtype.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { numberToSmallFloat } from '../../core/tensor/small-floats.ts';
import { SymbolicDims } from '../../core/dims/symbolic-dims.ts';
import type { GraphTarget, GraphTensor } from './graph-target.ts';

/** A tensor, or a number that stands for one of rank 0. */
type Operand = GraphTensor | number;

/** Builds graphs of operators: a method for each of the common ones, `call` for all. */
export class GraphBuilder {
  /** The target in which the nodes are made. */
  readonly target: GraphTarget;
  /** Arithmetic of sizes. */
  readonly dims: DimContext<Dim> = new SymbolicDims();

  /** A builder of nodes in one place. */
  constructor(target: GraphTarget) {
    this.target = target;
  }

  /** A call of any operator. */
  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes = {}): GraphTensor {
    return this.target.call(op, inputs, attributes);
  }

  /** A constant of rank 0. */
  scalar(value: number, dtype: DType): GraphTensor {
    return this.target.constant(HostTensor.from(dtype, [], [storedNumber(value, dtype)]));
  }

  /** A constant of rank 1. */
  integers(values: readonly number[]): GraphTensor {
    return this.target.constant(HostTensor.from('int64', [values.length], values.map(BigInt)));
  }

  /** The sum. */
  add(a: GraphTensor, b: Operand): GraphTensor {
    return this.#binary('add', a, b);
  }

  /** The difference. */
  sub(a: GraphTensor, b: Operand): GraphTensor {
    return this.#binary('sub', a, b);
  }

  /** The product. */
  mul(a: GraphTensor, b: Operand): GraphTensor {
    return b === 1 ? a : this.#binary('mul', a, b);
  }

  /** The quotient. */
  div(a: GraphTensor, b: Operand): GraphTensor {
    return b === 1 ? a : this.#binary('div', a, b);
  }

  /** The negative. */
  neg(x: GraphTensor): GraphTensor {
    return this.call('neg', [x]);
  }

  /** The square. */
  square(x: GraphTensor): GraphTensor {
    return this.mul(x, x);
  }

  /** A unary operator without attributes, such as `exp`. */
  unary(op: string, x: GraphTensor): GraphTensor {
    return this.call(op, [x]);
  }

  /** The condition a = b for each element. */
  equal(a: GraphTensor, b: Operand): GraphTensor {
    return this.#binary('equal', a, b);
  }

  /** The condition a < b for each element. */
  less(a: GraphTensor, b: Operand): GraphTensor {
    return this.#binary('less', a, b);
  }

  /** The condition a ≤ b for each element. */
  lessEqual(a: GraphTensor, b: Operand): GraphTensor {
    return this.#binary('less_equal', a, b);
  }

  /** One of two, at least one of which is a tensor. */
  where(condition: GraphTensor, x: Operand, y: Operand): GraphTensor {
    const dtype = typeof x === 'number' ? (typeof y === 'number' ? 'float32' : y.dtype) : x.dtype;
    const [a, b] = [x, y].map((of) => (typeof of === 'number' ? this.scalar(of, dtype) : of));
    return this.call('where', [condition, a ?? condition, b ?? condition]);
  }

  /** The tensor in another dtype. */
  cast(x: GraphTensor, to: DType): GraphTensor {
    return x.dtype === to ? x : this.call('cast', [x], { to });
  }

  /** The matrix product. */
  matmul(a: GraphTensor, b: GraphTensor): GraphTensor {
    return this.call('matmul', [a, b]);
  }

  /** Exchanges the last two axes. */
  transposeLast(x: GraphTensor): GraphTensor {
    const rank = x.shape.length;
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    return this.transpose(x, [...axes.slice(0, -2), rank - 1, rank - 2]);
  }

  /** The axes in another order. */
  transpose(x: GraphTensor, perm: readonly number[]): GraphTensor {
    return perm.every((axis, i) => axis === i) ? x : this.call('transpose', [x], { perm });
  }

  /** The same elements under another shape. */
  reshape(x: GraphTensor, shape: readonly Dim[]): GraphTensor {
    return sameShape(x.shape, shape) ? x : this.call('reshape', [x], { shape });
  }

  /** The tensor, repeated to a shape. */
  broadcastTo(x: GraphTensor, shape: readonly Dim[]): GraphTensor {
    return sameShape(x.shape, shape) ? x : this.call('broadcast_to', [x], { shape });
  }

  /** The sum over axes, which stay as 1. */
  sum(x: GraphTensor, axes: readonly number[]): GraphTensor {
    return axes.length === 0 ? x : this.call('reduce_sum', [x], { axes, keepdims: true });
  }

  /** The mean over axes, which stay as 1. */
  mean(x: GraphTensor, axes: readonly number[]): GraphTensor {
    return axes.length === 0 ? x : this.call('reduce_mean', [x], { axes, keepdims: true });
  }

  /** Tensors one after the other along an axis. */
  concat(parts: readonly GraphTensor[], axis: number): GraphTensor {
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : this.call('concat', parts, { axis });
  }

  /** From an index on up to another along one axis. */
  sliceAxis(
    x: GraphTensor,
    axis: number,
    { from = 0, to = x.shape[axis] ?? 1 }: { from?: Dim; to?: Dim },
  ): GraphTensor {
    if (from === 0 && sameDim(to, x.shape[axis] ?? 1)) return x;
    const starts = x.shape.map((_, i) => (i === axis ? from : 0));
    const ends = x.shape.map((dim, i) => (i === axis ? to : dim));
    return this.call('slice', [x], { starts, ends });
  }

  /** One index along an axis, which goes. */
  at(x: GraphTensor, axis: number, index: number): GraphTensor {
    const part = this.sliceAxis(x, axis, { from: index, to: index + 1 });
    return this.reshape(part, part.shape.toSpliced(axis, 1));
  }

  /** Zeros, or what `value` says, of a shape. */
  full(shape: readonly Dim[], dtype: DType, value = 0): GraphTensor {
    if (shape.length === 0) return this.scalar(value, dtype);
    // `full` has no bfloat16.
    if (dtype === 'bfloat16') return this.cast(this.full(shape, 'float32', value), dtype);
    return this.call('full', [], { shape, value, dtype });
  }

  /** 0 up to a size, as int64 of rank 1. */
  count(size: Dim): GraphTensor {
    return this.call('arange', [], { start: [0], size: [size] });
  }

  /**
   * The number of each element, counted row by row: the sum of two short lists. One of all would be as large
   * as what it numbers, and lists are made on the host.
   */
  places(shape: readonly Dim[], dtype: DType): GraphTensor {
    const middle = shape.length >> 1;
    const [outer, inner] = [shape.slice(0, middle), shape.slice(middle)];
    const place = this.reshape(this.cast(this.count(this.#elements(inner)), dtype), inner);
    if (middle === 0) return place;
    const firsts = this.mul(this.count(this.#elements(outer)), this.size(inner, 'int64'));
    return this.add(
      this.reshape(this.cast(firsts, dtype), [...outer, ...inner.map(() => 1)]),
      place,
    );
  }

  /** A number of elements as a tensor of rank 0, to multiply or divide by. */
  size(dims: readonly Dim[], dtype: DType): GraphTensor | number {
    const total = this.#elements(dims);
    if (typeof total === 'number') return total;
    const tensor = this.call('dims_tensor', [], { dims: [total] });
    return this.reshape(this.cast(tensor, dtype), []);
  }

  /** The sum over what broadcasting has repeated: of the shape that was broadcast. */
  sumTo(x: GraphTensor, shape: readonly Dim[]): GraphTensor {
    const lead = x.shape.length - shape.length;
    const axes = x.shape.flatMap((dim, axis) => {
      const target = shape[axis - lead];
      const isRepeated = target === undefined || (isAtMostOne(target, this.dims) && dim !== 1);
      return isRepeated && !(target !== undefined && sameDim(target, dim)) ? [axis] : [];
    });
    if (axes.length === 0) return x;
    const summed = this.sum(x, axes);
    const kept = shape.map((dim, axis) => (axes.includes(axis + lead) ? 1 : dim));
    let result = this.reshape(summed, kept);
    // A size that is 0 or 1 when the program runs.
    for (const [axis, dim] of shape.entries()) {
      if (axes.includes(axis + lead)) result = this.sliceAxis(result, axis, { to: dim });
    }
    return result;
  }

  #elements(shape: readonly Dim[]): Dim {
    return shape.reduce<Dim>((product, dim) => this.dims.mul(product, dim), 1);
  }

  #binary(op: string, a: GraphTensor, b: Operand): GraphTensor {
    return this.call(op, [a, typeof b === 'number' ? this.scalar(b, a.dtype) : b]);
  }
}

function isAtMostOne(dim: Dim, dims: DimContext<Dim>): boolean {
  if (typeof dim !== 'object') return dim === 1;
  return sameDim(dims.min(dim, 1), dim);
}

/** Returns true if two shapes are certainly the same; unknown dimensions never are. */
export function sameShape(a: readonly Dim[], b: readonly Dim[]): boolean {
  return (
    a.length === b.length &&
    a.every((dim, axis) => !isUnknownDim(dim) && sameDim(dim, b[axis] ?? -1))
  );
}

function storedNumber(value: number, dtype: DType): number | bigint {
  if (dtype === 'float16') return numberToFloat16(value);
  if (dtype === 'bfloat16') {
    return numberToSmallFloat(dtype, value, { saturate: false, roundMode: 'up' });
  }
  return isBigInt(dtype) ? BigInt(Math.trunc(value)) : value;
}
