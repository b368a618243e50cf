import type { DType } from '../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';

/**
 * A tensor in double precision that is read element by element. The expected results of the models
 * are written with it straight from the definitions of their layers, apart from Weft's kernels.
 */
export class NaiveTensor {
  readonly shape: readonly number[];
  readonly values: Float64Array;

  constructor(shape: readonly number[], values: Float64Array) {
    this.shape = shape;
    this.values = values;
  }

  static of(tensor: HostTensor): NaiveTensor {
    return new NaiveTensor(tensor.shape, Float64Array.from(tensor.data, Number));
  }

  at(...index: readonly number[]): number {
    let offset = 0;
    for (const [axis, dim] of this.shape.entries()) {
      const place = index[axis];
      if (place === undefined || place < 0 || place >= dim) {
        throw new RangeError(`internal: [${index.join(', ')}] of [${this.shape.join(', ')}]`);
      }
      offset = offset * dim + place;
    }
    return this.values[offset] ?? 0;
  }

  map(change: (value: number) => number): NaiveTensor {
    return new NaiveTensor(this.shape, this.values.map(change));
  }

  toTensor(dtype: DType = 'float32'): HostTensor {
    const isWide = dtype === 'int64';
    return HostTensor.from(
      dtype,
      this.shape,
      isWide ? Array.from(this.values, BigInt) : this.values,
    );
  }
}

/** The tensor whose element at an index is what `element` says. */
export function tabulate(
  shape: readonly number[],
  element: (...index: number[]) => number,
): NaiveTensor {
  const values = new Float64Array(elementCount(shape));
  const index = shape.map(() => 0);
  for (let i = 0; i < values.length; i++) {
    values[i] = element(...index);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1;
      index[axis] = next === shape[axis] ? 0 : next;
      if (next !== shape[axis]) break;
    }
  }
  return new NaiveTensor(shape, values);
}

export function sum(count: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}
