import { internalError } from '../../core/errors.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  rowMajorStrides,
  type Shape,
  elementCount,
  normalizeAxis,
} from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import type { NumberArray } from '../define-op.ts';
import { numberElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { ArgReduceName, Extreme } from './arg-reduce.ts';
import { reducedAxes, type ReduceName } from './reduce.ts';
import type { Reduction } from './reduction-wgsl.ts';

function reduceReference(name: ReduceName, kind: Reduction): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      reduceTensor(kind, x, {
        axes: reducedAxes(attributes, x.shape.length, name),
        output,
      });
    },
  };
}

/**
 * Computes in double precision; 64-bit integers as bigints, which wrap where they are stored. A NaN
 * among the elements makes an extremum NaN. Without elements an extremum is an infinity or the last
 * integer, and a mean is NaN. A mean of integers is that of the sum that its dtype holds, as ONNX
 * Runtime and kernels have it.
 */
export function reduceTensor(
  kind: Reduction,
  x: HostTensor,
  { axes, output }: { readonly axes: ReadonlySet<number>; readonly output: HostTensor },
): void {
  const kept = x.shape.flatMap((_, axis) => (axes.has(axis) ? [] : [axis]));
  const starts = blockOffsets(x.shape, kept);
  const inner = blockOffsets(
    x.shape,
    [...axes].sort((a, b) => a - b),
  );
  const { data, dtype } = x;
  const target = output.elements;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    const results = Array.from(starts, (start) => reduceWide(kind, dtype, { data, start, inner }));
    if (target instanceof BigInt64Array || target instanceof BigUint64Array) target.set(results);
    return;
  }
  const elements = numberElements(x);
  const numbers = numberElements(output);
  for (const [i, start] of starts.entries()) {
    numbers[i] = reduceBlock(kind, dtype, { elements, start, inner });
  }
}

interface Block {
  readonly elements: NumberArray;
  readonly start: number;
  readonly inner: Int32Array;
}

function reduceBlock(kind: Reduction, dtype: DType, { elements, start, inner }: Block): number {
  let result = emptyResult(kind, dtype);
  // Products of integers soon leave what float64 holds exactly.
  const multiply =
    dtypeInfo(dtype).category === 'float' ? (a: number, b: number) => a * b : Math.imul;
  for (let j = 0; j < inner.length; j++) {
    const value = elements[start + (inner[j] ?? 0)] ?? 0;
    if (kind === 'max') result = value > result || Number.isNaN(value) ? value : result;
    else if (kind === 'min') result = value < result || Number.isNaN(value) ? value : result;
    else if (kind === 'prod') result = multiply(result, value);
    else result += value;
  }
  return kind === 'mean' ? wrapped(result, dtype) / inner.length : result;
}

/** The sum that a mean is made of, as wide as the integers. */
function wrapped(sum: number, dtype: DType): number {
  const { category } = dtypeInfo(dtype);
  if (category === 'int') return sum | 0;
  return category === 'uint' ? sum >>> 0 : sum;
}

interface WideBlock {
  readonly data: BigInt64Array | BigUint64Array;
  readonly start: number;
  readonly inner: Int32Array;
}

function reduceWide(kind: Reduction, dtype: DType, { data, start, inner }: WideBlock): bigint {
  let result = emptyWideResult(kind, dtype);
  for (let j = 0; j < inner.length; j++) {
    const value = data[start + (inner[j] ?? 0)] ?? 0n;
    if (kind === 'max') result = value > result ? value : result;
    else if (kind === 'min') result = value < result ? value : result;
    else if (kind === 'prod') result = BigInt.asIntN(64, result * value);
    else result += value;
  }
  if (kind !== 'mean' || inner.length === 0) return result;
  const sum = dtype === 'uint64' ? BigInt.asUintN(64, result) : BigInt.asIntN(64, result);
  return sum / BigInt(inner.length);
}

function emptyResult(kind: Reduction, dtype: DType): number {
  if (kind === 'sum' || kind === 'mean') return 0;
  if (kind === 'prod') return 1;
  const { category, byteLength } = dtypeInfo(dtype);
  if (category === 'float') return kind === 'max' ? -Infinity : Infinity;
  const range = 2 ** (8 * byteLength);
  if (category === 'int') return kind === 'max' ? -range / 2 : range / 2 - 1;
  return kind === 'max' ? 0 : range - 1;
}

function emptyWideResult(kind: Reduction, dtype: DType): bigint {
  if (kind === 'sum' || kind === 'mean') return 0n;
  if (kind === 'prod') return 1n;
  if (dtype === 'uint64') return kind === 'max' ? 0n : 2n ** 64n - 1n;
  return kind === 'max' ? -(2n ** 63n) : 2n ** 63n - 1n;
}

/** Offsets in row-major order of the elements along `axes` of `shape`, all others at 0. */
function blockOffsets(shape: Shape, axes: readonly number[]): Int32Array {
  const strides = rowMajorStrides(shape);
  let offsets = Int32Array.of(0);
  for (const axis of axes) {
    const dim = shape[axis] ?? 1;
    const stride = strides[axis] ?? 0;
    const next = new Int32Array(offsets.length * dim);
    for (let i = 0; i < next.length; i++) {
      next[i] = (offsets[Math.floor(i / dim)] ?? 0) + (i % dim) * stride;
    }
    offsets = next;
  }
  return offsets;
}

export const REDUCE_REFERENCES = {
  reduce_sum: reduceReference('reduce_sum', 'sum'),
  reduce_mean: reduceReference('reduce_mean', 'mean'),
  reduce_prod: reduceReference('reduce_prod', 'prod'),
  reduce_max: reduceReference('reduce_max', 'max'),
  reduce_min: reduceReference('reduce_min', 'min'),
} satisfies Record<ReduceName, StaticReference>;

function argReduceReference(name: ArgReduceName, extreme: Extreme): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
      findExtremes(x, output, {
        axis,
        extreme,
        isLast: boolAttribute(attributes, 'select_last'),
      });
    },
  };
}

interface ExtremeSearch {
  readonly axis: number;
  readonly extreme: Extreme;
  readonly isLast: boolean;
}

function findExtremes(
  x: HostTensor,
  output: HostTensor,
  { axis, extreme, isLast }: ExtremeSearch,
): void {
  const elements: ArrayLike<number | bigint> = x.data;
  const places = output.elements;
  if (!(places instanceof BigInt64Array)) throw internalError('places that are no int64');
  const size = x.shape[axis] ?? 1;
  const inner = elementCount(x.shape.slice(axis + 1));
  const isBetter = (a: number | bigint, b: number | bigint) =>
    (extreme === 'max' ? a > b : a < b) || (Number.isNaN(Number(a)) && !Number.isNaN(Number(b)));
  for (let row = 0; row < places.length; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    let place = 0;
    for (let k = 1; k < size; k++) {
      const best = elements[start + place * inner] ?? 0;
      const next = elements[start + k * inner] ?? 0;
      if (isBetter(next, best) || (isLast && !isBetter(best, next))) place = k;
    }
    places[row] = BigInt(place);
  }
}

export const ARG_REDUCE_REFERENCES = {
  arg_max: argReduceReference('arg_max', 'max'),
  arg_min: argReduceReference('arg_min', 'min'),
} satisfies Record<ArgReduceName, StaticReference>;

export const cumulativeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    accumulate(x, output, {
      axis: normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'cumulative'),
      isProduct: boolAttribute(attributes, 'product'),
      isExclusive: boolAttribute(attributes, 'exclusive'),
      isReverse: boolAttribute(attributes, 'reverse'),
    });
  },
};

interface Accumulation {
  readonly axis: number;
  readonly isProduct: boolean;
  readonly isExclusive: boolean;
  readonly isReverse: boolean;
}

/** Accumulates in double precision, or in 64-bit integers, which wrap. */
function accumulate(x: HostTensor, output: HostTensor, how: Accumulation): void {
  const { data } = x;
  const target = output.elements;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    if (!(target instanceof BigInt64Array || target instanceof BigUint64Array)) return;
    eachRow(x.shape, how, (places) => {
      let result = how.isProduct ? 1n : 0n;
      for (const at of places) {
        const value = data[at] ?? 0n;
        const next = BigInt.asIntN(64, how.isProduct ? result * value : result + value);
        target[at] = how.isExclusive ? result : next;
        result = next;
      }
    });
    return;
  }
  const elements = numberElements(x);
  const numbers = numberElements(output);
  const isFloat = dtypeInfo(x.dtype).category === 'float';
  const multiply = isFloat ? (a: number, b: number) => a * b : Math.imul;
  eachRow(x.shape, how, (places) => {
    let result = how.isProduct ? 1 : 0;
    for (const at of places) {
      const value = elements[at] ?? 0;
      const next = how.isProduct ? multiply(result, value) : result + value;
      numbers[at] = how.isExclusive ? result : next;
      result = next;
    }
  });
}

/** Calls back with the places of each row's elements, in the order of accumulation. */
function eachRow(
  shape: Shape,
  { axis, isReverse }: Accumulation,
  visit: (places: readonly number[]) => void,
): void {
  const size = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  const rows = size === 0 ? 0 : elementCount(shape) / size;
  for (let row = 0; row < rows; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    const places = Array.from({ length: size }, (_, k) => start + k * inner);
    visit(isReverse ? places.reverse() : places);
  }
}
