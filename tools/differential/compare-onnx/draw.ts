import { type DType, dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../../src/core/tensor/shape.ts';
import { numberToFloat16 } from '../../../src/core/tensor/float16.ts';
import { Draws } from '../draws.ts';

/** How elements are drawn; `number` gives one element. */
export interface Elements {
  readonly number: (draw: Draw) => number;
}

/** Multiples of a quarter, so that ties, equal elements and zeros occur. */
export const quarters: Elements = { number: (draw) => draw.int(-12, 12) / 4 };
export const reals: Elements = { number: (draw) => draw.real(-3, 3) };
export const positive: Elements = { number: (draw) => draw.real(0.1, 3) };
/** Small integers. */
export const counts: Elements = { number: (draw) => draw.int(-5, 5) };

export function between(low: number, high: number): Elements {
  return { number: (draw) => draw.real(low, high) };
}

export function integersBetween(low: number, high: number): Elements {
  return { number: (draw) => draw.int(low, high) };
}

// Without subnormal numbers: WebGPU may take them as zeros.
const EDGES = [Number.NaN, Infinity, -Infinity, 0, -0, 3e38, -3e38, 1e-20, 65504, 100];

/** Numbers at the ends of float32 among others. */
export const edges: Elements = {
  number: (draw) => (draw.often(0.5) ? draw.pick(EDGES) : draw.real(-3, 3)),
};

/** {@link edges} without NaN. */
export const infinities: Elements = {
  number: (draw) => (draw.often(0.3) ? draw.pick(EDGES.slice(1)) : draw.real(-3, 3)),
};

/** A seeded source of what a case is made of. */
export class Draw extends Draws {
  /** Each name has cases of its own. */
  constructor(seed: number, name: string) {
    let hash = seed;
    for (const char of name) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
    super(hash);
    this.skipFirst();
  }

  real(low: number, high: number): number {
    return Math.fround(low + this.random() * (high - low));
  }

  /** An integer from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  /** The value in some of the cases, else undefined. */
  maybe<Item>(make: () => Item, probability = 0.5): Item | undefined {
    return this.often(probability) ? make() : undefined;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, key: this.random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  dim(): number {
    return this.pick([1, 2, 2, 3, 3, 4, 5, 7]);
  }

  /** A shape of a rank between the given ones; some have a dimension of 0. */
  shape({ from = 0, to = 5, zero = 0.04 } = {}): number[] {
    const dims = Array.from({ length: this.int(from, to) }, () => this.dim());
    if (dims.length > 0 && this.often(zero)) dims[this.int(0, dims.length - 1)] = 0;
    while (elementCount(dims) > 2000) dims[dims.indexOf(Math.max(...dims))] = 2;
    return dims;
  }

  /** A shape that broadcasts to `shape`. */
  broadcastable(shape: Shape): number[] {
    const from = this.often(0.5) ? 0 : this.int(0, shape.length);
    return shape.slice(from).map((dim) => (this.often(0.3) ? 1 : dim));
  }

  /** An axis of a tensor of that rank, negative in half of the cases. */
  axis(rank: number): number {
    return this.sign(this.int(0, rank - 1), rank);
  }

  /** `count` different axes, any order, some negative. */
  axes(rank: number, count = this.int(1, rank)): number[] {
    return this.shuffled(Array.from({ length: rank }, (_, i) => i))
      .slice(0, count)
      .map((axis) => this.sign(axis, rank));
  }

  sign(axis: number, rank: number): number {
    return this.often(0.5) ? axis : axis - rank;
  }

  tensor(dtype: DType, shape: Shape, elements: Elements = defaultElements(dtype)): HostTensor {
    const values = Array.from({ length: elementCount(shape) }, () =>
      stored(dtype, elements.number(this)),
    );
    return HostTensor.from(dtype, shape, values);
  }
}

/** Default elements of each dtype. */
function defaultElements(dtype: DType): Elements {
  const { category } = dtypeInfo(dtype);
  if (category === 'float') return quarters;
  if (category === 'bool') return integersBetween(0, 1);
  if (dtype === 'uint8') return integersBetween(0, 255);
  if (dtype === 'int8') return integersBetween(-128, 127);
  return category === 'uint' ? integersBetween(0, 20) : integersBetween(-20, 20);
}

/** A number as an element of a dtype: bits of float16, integers without their fraction. */
function stored(dtype: DType, value: number): number {
  if (dtype === 'float16') return numberToFloat16(value);
  if (dtypeInfo(dtype).category === 'float') return value;
  if (dtype === 'bool') return value > 0 ? 1 : 0;
  const whole = Math.trunc(value);
  return dtypeInfo(dtype).category === 'uint' ? Math.abs(whole) : whole;
}

/** A tensor of int64 in one dimension, as ONNX takes axes, sizes and counts. */
export function ints(values: readonly number[], dtype: DType = 'int64'): HostTensor {
  return HostTensor.from(dtype, [values.length], values);
}

export function scalar(dtype: DType, value: number): HostTensor {
  return HostTensor.from(dtype, [], [stored(dtype, value)]);
}

export const float = (draw: Draw, shape: Shape): HostTensor => draw.tensor('float32', shape, reals);
