import { describeStray, findStrayIndex } from '../../core/contracts/index-checks.ts';
import { RuntimeError } from '../../core/errors.ts';
import { isBigInt } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/tensor/shape.ts';
import { boolAttribute, dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { elementBits, numberElements, startFrom } from '../elements.ts';
import { elementFunction } from '../formula/host/evaluate.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { gatherAxisOf } from './gather-elements.ts';
import { oneHotAxisOf } from './one-hot.ts';
import { axesOf } from './reverse-sequence.ts';
import { scatterAxisOf } from './scatter-elements.ts';
import { tuplesOf } from './scatter-nd.ts';
import { combination, contextOf } from './scatter-reduction.ts';
import { placesOf } from './tensor-scatter.ts';
import { topKAxisOf } from './top-k.ts';

export const gatherNdReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const batch = intAttribute(attributes, 'batch_dims');
    const batchCount = elementCount(x.shape.slice(0, batch));
    const length = indices.shape.at(-1) ?? 0;
    const sizes = x.shape.slice(batch, batch + length);
    const slice = elementCount(sizes);
    const run = elementCount(x.shape.slice(batch + length)) * output.data.BYTES_PER_ELEMENT;
    const tuples = elementCount(indices.shape.slice(0, -1));
    const places = tuplePlaces(hostIntegers(indices), sizes, tuples);
    const from = x.bytes;
    const to = output.bytes;
    for (const [i, place] of places.entries()) {
      const begin = (Math.floor((i * batchCount) / tuples) * slice + place) * run;
      if (place >= 0) to.set(from.subarray(begin, begin + run), i * run);
      else to.fill(0, i * run, (i + 1) * run);
    }
  },
};

/** The row-major place of each tuple among axes of some sizes; -1 outside. */
function tuplePlaces(indices: Float64Array, sizes: Shape, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => {
    let place = 0;
    for (const [k, size] of sizes.entries()) {
      const at = hostPlace(indices[i * sizes.length + k] ?? 0, size);
      place = at < 0 || place < 0 ? -1 : place * size + at;
    }
    return place;
  });
}

export const gatherElementsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const indices = hostIntegers(operand(inputs, 1));
    const axis = gatherAxisOf(attributes, x.shape.length);
    const size = x.shape[axis] ?? 0;
    const from = elementBits(x);
    const to = elementBits(output);
    const strides = rowMajorStrides(x.shape);
    const own = rowMajorStrides(output.shape);
    const zero = from.constructor === BigUint64Array ? (0n as unknown as number) : 0;
    for (const [i, index] of indices.entries()) {
      const place = hostPlace(index, size);
      let offset = place * (strides[axis] ?? 0);
      for (const [a, dim] of output.shape.entries()) {
        if (a !== axis) offset += (Math.floor(i / (own[a] ?? 1)) % dim) * (strides[a] ?? 0);
      }
      to[i] = place < 0 ? zero : (from[offset] ?? zero);
    }
  },
};

export const oneHotReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = hostIntegers(operand(inputs, 0));
    const values = elementBits(operand(inputs, 1));
    const to = elementBits(output);
    const axis = oneHotAxisOf(attributes, output.shape.length);
    const depth = output.shape[axis] ?? 0;
    const inner = elementCount(output.shape.slice(axis + 1));
    to.fill(values[0] ?? 0);
    for (const [i, index] of indices.entries()) {
      const place = hostPlace(index, depth);
      const outer = Math.floor(i / inner);
      if (place >= 0) to[(outer * depth + place) * inner + (i % inner)] = values[1] ?? 0;
    }
  },
};

export const scatterElementsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 1);
    const { shape } = indices;
    const axis = scatterAxisOf(attributes, shape.length);
    const strides = rowMajorStrides(output.shape);
    const own = rowMajorStrides(shape);
    const rows = hostIntegers(indices).map((index, i) => {
      const place = hostPlace(index, output.shape[axis] ?? 0);
      if (place < 0) return -1;
      let row = place * (strides[axis] ?? 0);
      for (const [a, size] of shape.entries()) {
        if (a !== axis) row += (Math.floor(i / (own[a] ?? 1)) % size) * (strides[a] ?? 0);
      }
      return row;
    });
    const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
    const reduction = stringAttribute(attributes, 'reduction');
    scatterOnHost({ x, updates, reduction, run: 1, rows }, output);
  },
};

export const reverseSequenceReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const lengths = hostIntegers(operand(inputs, 1));
    const { batch, time } = axesOf(attributes, x.shape.length);
    const strides = rowMajorStrides(x.shape);
    const coordinate = (i: number, axis: number) =>
      Math.floor(i / (strides[axis] ?? 1)) % (x.shape[axis] ?? 1);
    const from = elementBits(x);
    const to = elementBits(output);
    for (let i = 0; i < to.length; i++) {
      const length = Math.min(lengths[coordinate(i, batch)] ?? 0, x.shape[time] ?? 0);
      const at = coordinate(i, time);
      const place = at < length ? length - 1 - at : at;
      to[i] = from[i + (place - at) * (strides[time] ?? 0)] ?? 0;
    }
  },
};

export const tensorScatterReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, updates] = [operand(inputs, 0), operand(inputs, 1)];
    const begins = hostIntegers(operand(inputs, 2));
    const { axis, run: elements, rows } = placesOf(x.shape, attributes);
    const [size, count] = [x.shape[axis] ?? 0, updates.shape[axis] ?? 0];
    const run = elements * output.data.BYTES_PER_ELEMENT;
    const to = output.bytes;
    const from = updates.bytes;
    startFrom(x, output);
    for (let row = 0; row < rows * begins.length; row++) {
      const begin = begins[Math.floor(row / rows)] ?? 0;
      for (let i = 0; i < count; i++) {
        const circular = (((begin + i) % size) + size) % size;
        const place = boolAttribute(attributes, 'circular') ? circular : begin + i;
        if (place < 0 || place >= size) continue;
        const source = (row * count + i) * run;
        to.set(from.subarray(source, source + run), (row * size + place) * run);
      }
    }
  },
};

export const triluReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const isUpper = boolAttribute(attributes, 'upper');
    const k = hostIntegers(operand(inputs, 1))[0] ?? 0;
    const [rows = 1, columns = 1] = x.shape.slice(-2);
    const from = elementBits(x);
    const to = elementBits(output);
    output.bytes.fill(0);
    for (let i = 0; i < to.length; i++) {
      const above = (i % columns) - (Math.floor(i / columns) % rows);
      if (isUpper ? above >= k : above <= k) to[i] = from[i] ?? 0;
    }
  },
};

export const checkIndicesReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 0);
    const stray = findStrayIndex(indices.data, {
      lower: dimsAttribute(attributes, 'lower').map(Number),
      below: dimsAttribute(attributes, 'below').map(Number),
      except: intAttribute(attributes, 'except'),
    });
    if (stray !== undefined) {
      const where = stringAttribute(attributes, 'where');
      throw new RuntimeError({ where, ...describeStray(stray, indices.shape) });
    }
    output.bytes.set(indices.bytes);
  },
};

export const scatterNdReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 1);
    const { sizes, count, run } = tuplesOf(output.shape, indices.shape);
    const rows = tuplePlaces(hostIntegers(indices), sizes, count);
    const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
    const reduction = stringAttribute(attributes, 'reduction');
    scatterOnHost({ x, updates, reduction, run, rows }, output);
  },
};

export const topKReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = topKAxisOf(attributes, x.shape.length);
    const [size, k] = [x.shape[axis] ?? 0, output.shape[axis] ?? 0];
    const inner = elementCount(x.shape.slice(axis + 1));
    const { data } = x;
    const isBig = data instanceof BigInt64Array || data instanceof BigUint64Array;
    const elements: ArrayLike<number | bigint> = isBig ? data : numberElements(x);
    const sign = boolAttribute(attributes, 'largest') ? -1 : 1;
    const to = output.data as BigInt64Array;
    const rows = size === 0 ? 0 : elementCount(x.shape) / size;
    for (let row = 0; row < rows; row++) {
      const outer = Math.floor(row / inner);
      const base = outer * size * inner + (row % inner);
      const at = (index: number) => elements[base + index * inner] ?? 0;
      const order = Array.from({ length: size }, (_, index) => index);
      order.sort((a, b) => sign * compare(at(a), at(b)) || a - b);
      for (let place = 0; place < k; place++) {
        to[(outer * k + place) * inner + (row % inner)] = BigInt(order[place] ?? 0);
      }
    }
  },
};

/** Compares two numbers; NaN is the largest. */
function compare(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** The elements of a tensor of integers as numbers. */
function hostIntegers({ data }: HostTensor): Float64Array {
  return Float64Array.from(data as ArrayLike<number | bigint>, Number);
}

/** The place of an index that may count from the end; -1 outside. */
function hostPlace(index: number, size: number): number {
  const place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}

/** A scatter of whole rows, as both operators come down to it. */
interface HostScatter {
  readonly x: HostTensor;
  readonly updates: HostTensor;
  readonly reduction: string;
  /** Elements of one row. */
  readonly run: number;
  /** The row of x for each row of the updates; negative for none. */
  readonly rows: ArrayLike<number>;
}

function scatterOnHost(scatter: HostScatter, output: HostTensor): void {
  const { x, updates, reduction, run, rows } = scatter;
  startFrom(x, output);
  const formula = combination(reduction);
  if (formula === undefined) {
    copyRows(elementBits(updates), elementBits(output), { rows, run });
    return;
  }
  const combine = elementFunction(formula, contextOf(output.dtype));
  const isWide = isBigInt(output.dtype);
  const from: ArrayLike<number | bigint> = isWide ? updates.data : numberElements(updates);
  const to = isWide ? output.data : numberElements(output);
  for (let i = 0; i < rows.length * run; i++) {
    const row = rows[Math.floor(i / run)] ?? -1;
    if (row < 0) continue;
    const at = row * run + (i % run);
    const value = combine([to[at] ?? 0, from[i] ?? 0]);
    if (to instanceof BigInt64Array || to instanceof BigUint64Array) to[at] = BigInt(value);
    else to[at] = Number(value);
  }
}

function copyRows(
  from: Uint32Array,
  to: Uint32Array,
  { rows, run }: { readonly rows: ArrayLike<number>; readonly run: number },
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? -1;
    if (row >= 0) to.set(from.subarray(i * run, (i + 1) * run), row * run);
  }
}
