import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { MAX_DIMENSION } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { DType, TypedArray } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import { isSmallFloat, numberToSmallFloat } from '../../core/tensor/small-floats.ts';
import { boolAttribute, dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { float32Elements } from '../elements.ts';
import type { Operands } from '../lowering/lowering.ts';
import type { OpCase } from '../op-cases.ts';
import type { DynamicReference, OpReference, StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { comparedElements } from './compared-elements.ts';
import { integersOf } from './integers.ts';
import { NAMES } from './slice-indices.ts';
import { axisOf } from './unique.ts';

export const uniqueIndicesReference: OpReference = {
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).first),
};

export const uniqueCountsReference: OpReference = {
  compute: (inputs, attributes) => int64s(groupSlices(inputs, attributes).counts),
};

export const uniqueInverseReference: OpReference = {
  reference(inputs, attributes, output) {
    const target = output.elements;
    const { inverse } = groupSlices(inputs, attributes);
    if (target instanceof BigInt64Array) target.set(inverse.map(BigInt));
  },
};

interface Groups {
  /** The first slice of each group. */
  readonly first: readonly number[];
  readonly counts: readonly number[];
  /** The number of each slice's group. */
  readonly inverse: readonly number[];
}

/** Slices along an axis compare by their elements in row-major order; NaN equals NaN, behind all. */
function groupSlices(inputs: Operands<HostTensor>, attributes: Attributes): Groups {
  const x = operand(inputs, 0);
  const size = x.shape[axisOf(inputs, attributes)] ?? 0;
  const compare = sliceComparison(x, axisOf(inputs, attributes));
  const order = Array.from({ length: size }, (_, i) => i);
  order.sort((a, b) => compare(a, b) || a - b);
  const groups: number[][] = [];
  for (const slice of order) {
    const last = groups.at(-1);
    if (last !== undefined && compare(last[0] ?? 0, slice) === 0) last.push(slice);
    else groups.push([slice]);
  }
  const isSorted = boolAttribute(attributes, 'sorted');
  if (!isSorted) groups.sort(([a = 0], [b = 0]) => a - b);
  const inverse = new Array<number>(size).fill(0);
  for (const [group, slices] of groups.entries()) for (const i of slices) inverse[i] = group;
  return {
    first: groups.map(([slice = 0]) => slice),
    counts: groups.map((slices) => slices.length),
    inverse,
  };
}

function sliceComparison(x: HostTensor, axis: number): (a: number, b: number) => number {
  const elements = comparedElements(x);
  const inner = elementCount(x.shape.slice(axis + 1));
  const outer = elementCount(x.shape.slice(0, axis));
  const stride = (x.shape[axis] ?? 1) * inner;
  return (a, b) => {
    for (let o = 0; o < outer; o++) {
      for (let i = 0; i < inner; i++) {
        const at = o * stride + i;
        const order = compareElements(elements[at + a * inner], elements[at + b * inner]);
        if (order !== 0) return order;
      }
    }
    return 0;
  };
}

function compareElements(a: number | bigint = 0, b: number | bigint = 0): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

function int64s(values: readonly number[]): HostTensor {
  return HostTensor.from('int64', [values.length], values);
}

export const rangeReference: DynamicReference = {
  compute(inputs, attributes) {
    const [start = 0, limit = 0, delta = 0] = [0, 1, 2].map(
      (i) => comparedElements(operand(inputs, i))[0],
    );
    const where = stringAttribute(attributes, 'where');
    const count = countOf({ start, limit, delta }, where);
    const { dtype } = operand(inputs, 0);
    return typeof start === 'bigint' && typeof delta === 'bigint'
      ? HostTensor.from(
          dtype,
          [count],
          Array.from({ length: count }, (_, i) => start + BigInt(i) * delta),
        )
      : numbersFrom(dtype, { start: Number(start), delta: Number(delta), count });
  },
};

type Bounds<T> = Readonly<Record<'start' | 'limit' | 'delta', T>>;

function countOf({ start, limit, delta }: Bounds<number | bigint>, where: string): number {
  const isExact = typeof limit === 'bigint' && typeof start === 'bigint';
  const span = isExact ? Number(limit - start) : Number(limit) - Number(start);
  const steps = Math.ceil(span / Number(delta));
  // A difference of nothing has no steps, whatever their size.
  const count = span === 0 && Number(delta) !== 0 ? 0 : Math.max(steps, 0);
  if (Number(delta) !== 0 && count <= MAX_DIMENSION) return count;
  throw new ShapeError({
    where,
    got: `a range from ${start} to ${limit} by ${delta}`,
    expected: `a delta that is not 0 and at most ${MAX_DIMENSION} elements`,
  });
}

interface Progression {
  readonly start: number;
  readonly delta: number;
  readonly count: number;
}

function numbersFrom(dtype: DType, { start, delta, count }: Progression): HostTensor {
  const rounding = { saturate: false, roundMode: 'nearest' };
  const stored = (value: number): number =>
    isSmallFloat(dtype) ? numberToSmallFloat(dtype, value, rounding) : value;
  const values = Array.from({ length: count }, (_, i) => stored(start + i * delta));
  return HostTensor.from(dtype, [count], values);
}

export const nonzeroReference: DynamicReference = {
  compute: (inputs) => findNonzero(operand(inputs, 0)),
};

function findNonzero(x: HostTensor): HostTensor {
  const elements = comparedElements(x);
  const positions: number[] = [];
  for (let i = 0; i < elements.length; i++) if (Number(elements[i]) !== 0) positions.push(i);
  const strides = rowMajorStrides(x.shape);
  const count = positions.length;
  const result = new BigInt64Array(strides.length * count);
  for (const [axis, stride] of strides.entries()) {
    const dim = x.shape[axis] ?? 1;
    for (const [column, position] of positions.entries()) {
      result[axis * count + column] = BigInt(Math.floor(position / stride) % dim);
    }
  }
  return new HostTensor('int64', [strides.length, count], result);
}

export const sliceIndicesReference: DynamicReference = {
  compute(inputs, attributes) {
    const [starts = [], ends = [], axes = [], steps = []] = NAMES.map((_, i) =>
      integersOf(operand(inputs, i)),
    );
    const dims = dimsAttribute(attributes, 'dims').map(Number);
    const axis = intAttribute(attributes, 'axis');
    const where = stringAttribute(attributes, 'where');
    const wrong = axes.find((given) => given < -dims.length || given >= dims.length);
    if (wrong !== undefined || [ends, axes, steps].some(({ length }) => length !== starts.length)) {
      throw new ShapeError({
        where,
        got: wrong === undefined ? 'lists of different lengths' : `axis ${wrong}`,
        expected: `a start, an end, a step and an axis of ${dims.length} for each`,
      });
    }
    const at = axes.findIndex((given) => (given < 0 ? given + dims.length : given) === axis);
    const [start = 0, end = dims[axis] ?? 0, step = 1] = [starts[at], ends[at], steps[at]];
    if (step === 0) throw new ShapeError({ where, got: 'a step of 0', expected: 'another step' });
    const positions = positionsOf({ start, end, step }, dims[axis] ?? 0);
    return HostTensor.from('int64', [positions.length], positions);
  },
};

interface Span {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Negative positions count from the end; beyond an end the axis is cut. */
function positionsOf({ start, end, step }: Span, size: number): number[] {
  const clamp = (position: number, low: number, high: number): number =>
    Math.min(Math.max(position < 0 ? position + size : position, low), high);
  const isForward = step > 0;
  const from = isForward ? clamp(start, 0, size) : clamp(start, 0, size - 1);
  const to = isForward ? clamp(end, 0, size) : clamp(end, -1, size - 1);
  const count = size === 0 ? 0 : Math.max(0, Math.ceil((to - from) / step));
  return Array.from({ length: count }, (_, i) => from + i * step);
}

export const dimsTensorReference: StaticReference = {
  reference(_, attributes, output) {
    store(output.elements, dimsAttribute(attributes, 'dims').map(Number));
  },
};

export const arangeReference: StaticReference = {
  reference(_, attributes, output) {
    const [start = 0] = dimsAttribute(attributes, 'start').map(Number);
    const step = intAttribute(attributes, 'step');
    const count = elementCount(output.shape);
    store(
      output.elements,
      Array.from({ length: count }, (_element, i) => start + i * step),
    );
  },
};

function store(elements: TypedArray, values: readonly number[]): void {
  if (elements instanceof BigInt64Array) elements.set(values.map(BigInt));
}

export const limits = (most: number, overlap: number, score: number): OpCase['inputs'] => [
  { dtype: 'int64', shape: [], values: [most] },
  { dtype: 'float32', shape: [], values: [overlap] },
  { dtype: 'float32', shape: [], values: [score] },
];

/** Bottom, left, top, right. */
type Corners = readonly [number, number, number, number];

export const nonMaxSuppressionReference: DynamicReference = {
  compute(inputs, attributes) {
    const [boxes, scores] = [operand(inputs, 0), operand(inputs, 1)];
    const [most = 0, mostOverlap = 0, leastScore = 0] = [2, 3, 4].map((index) =>
      Number(operand(inputs, index).elements[0] ?? 0),
    );
    const [batches = 0, classes = 0, count = 0] = scores.shape;
    const numbers = float32Elements(boxes);
    const isCentered = boolAttribute(attributes, 'centered');
    const corners = Array.from({ length: batches * count }, (_, i) =>
      cornersOf(numbers.subarray(i * 4, i * 4 + 4), isCentered),
    );
    const all = float32Elements(scores);
    const found: number[] = [];
    for (let row = 0; row < batches * classes; row++) {
      const batch = Math.floor(row / classes);
      const own = corners.slice(batch * count, (batch + 1) * count);
      const by = all.subarray(row * count, (row + 1) * count);
      for (const box of chosen(own, by, { most, mostOverlap, leastScore })) {
        found.push(batch, row % classes, box);
      }
    }
    return HostTensor.from('int64', [found.length / 3, 3], found);
  },
};

interface Limits {
  readonly most: number;
  readonly mostOverlap: number;
  readonly leastScore: number;
}

function chosen(boxes: readonly Corners[], scores: Float32Array, limits: Limits): number[] {
  const candidates = [...boxes.keys()].filter((box) => (scores[box] ?? 0) > limits.leastScore);
  candidates.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const kept: number[] = [];
  for (const box of candidates) {
    if (kept.length >= limits.most) break;
    const overlaps = (other: number) => overlap(boxes[box], boxes[other]) > limits.mostOverlap;
    if (!kept.some(overlaps)) kept.push(box);
  }
  return kept;
}

function cornersOf(box: Float32Array, isCentered: boolean): Corners {
  const [a = 0, b = 0, c = 0, d = 0] = box;
  if (isCentered) return [b - d / 2, a - c / 2, b + d / 2, a + c / 2];
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

/** Intersection over union, as float32; 0 where either has no area. */
function overlap(a: Corners = [0, 0, 0, 0], b: Corners = [0, 0, 0, 0]): number {
  const height = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const width = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  if (height <= 0 || width <= 0) return 0;
  const area = ([bottom, left, top, right]: Corners) => (top - bottom) * (right - left);
  return Math.fround((height * width) / (area(a) + area(b) - height * width));
}
