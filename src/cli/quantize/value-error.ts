import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { Tensor } from '../../client/index.ts';

/** How far a value of a quantised model is from that of the float model, over all samples. */
export interface ValueError {
  /** The cosine of the angle between both, of all samples behind each other. */
  readonly cosine: number;
  /** The least cosine of one sample; 1 for values of one element, which have only a sign. */
  readonly worstCosine: number;
  /** The root mean square of the distance, relative to that of the float value. */
  readonly relativeError: number;
  /** The largest distance of two elements, relative to the range of the float value. */
  readonly largestError: number;
  /** The share of rows, along the last axis, whose largest element is the same; undefined for rows of one element. */
  readonly sameTop: number | undefined;
}

/** Adds up how far a value is off. */
export class ValueErrorSum {
  #product = 0;
  #got = 0;
  #wanted = 0;
  #distance = 0;
  #furthest = 0;
  #least = Infinity;
  #most = -Infinity;
  #worst = 1;
  #rows = 0;
  #same = 0;

  /** One sample more. Elements that are no number in one of both count as infinitely far. */
  add(got: Tensor, wanted: Tensor): void {
    const [values, expected] = [numbersOf(got), numbersOf(wanted)];
    let [product, a, b] = [0, 0, 0];
    for (const [i, want] of expected.entries()) {
      const value = values[i] ?? Number.NaN;
      // Masks of attention are infinite in both.
      if (Object.is(value, want) && !Number.isFinite(want)) continue;
      product += value * want;
      a += value * value;
      b += want * want;
      this.#distance += (value - want) ** 2;
      this.#furthest = Math.max(this.#furthest, Math.abs(value - want));
      this.#least = Math.min(this.#least, want);
      this.#most = Math.max(this.#most, want);
    }
    if (expected.length > 1) this.#worst = Math.min(this.#worst, cosineOf(product, a, b));
    this.#product += product;
    this.#got += a;
    this.#wanted += b;
    this.#addRows(values, expected, wanted.shape.at(-1) ?? 1);
  }

  get total(): ValueError {
    const range = this.#most - this.#least;
    return {
      cosine: cosineOf(this.#product, this.#got, this.#wanted),
      worstCosine: this.#worst,
      relativeError: this.#distance === 0 ? 0 : Math.sqrt(this.#distance / (this.#wanted || 1)),
      largestError: this.#furthest === 0 ? 0 : this.#furthest / (range > 0 ? range : 1),
      sameTop: this.#rows === 0 ? undefined : this.#same / this.#rows,
    };
  }

  #addRows(values: Float64Array, expected: Float64Array, length: number): void {
    if (length < 2) return;
    for (let begin = 0; begin < expected.length; begin += length) {
      this.#rows++;
      const [got, want] = [values, expected].map((all) =>
        topOf(all.subarray(begin, begin + length)),
      );
      if (got === want) this.#same++;
    }
  }
}

/** 1 where both are zero, 0 where one is; no number where an element is none. */
function cosineOf(product: number, a: number, b: number): number {
  if (a === 0 && b === 0) return 1;
  if (a === 0 || b === 0) return 0;
  // Sums of rounded squares may be a little less than the product.
  return Math.min(1, product / Math.sqrt(a * b));
}

function topOf(row: Float64Array): number {
  let top = 0;
  for (let i = 1; i < row.length; i++) if ((row[i] ?? 0) > (row[top] ?? 0)) top = i;
  return top;
}

function numbersOf({ data, dtype }: Tensor): Float64Array {
  if (dtype === 'float16') return Float64Array.from(data as Uint16Array, float16ToNumber);
  if (dtypeInfo(dtype).byteLength === 8 && dtype !== 'float64') {
    return Float64Array.from(data as BigInt64Array, Number);
  }
  return Float64Array.from(data as Float32Array);
}
