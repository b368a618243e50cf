import type { Dim } from '../../core/dims/dim.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';

/** Shapes are short; what is longer is data. */
const MAX_ELEMENTS = 1024;

/**
 * A small tensor of integers, of any dtype, whose elements are known as expressions over dimensions:
 * what shape arithmetic works on before the program runs. A bool is 0 or 1.
 */
export class SymbolicTensor {
  readonly dtype: DType;
  readonly shape: Shape;
  /** The elements in row-major order. */
  readonly elements: readonly Dim[];

  constructor(dtype: DType, shape: Shape, elements: readonly Dim[]) {
    if (elements.length !== elementCount(shape)) {
      throw new Error(`internal: ${elements.length} elements in a tensor of ${shape.join('x')}`);
    }
    this.dtype = dtype;
    this.shape = shape;
    this.elements = elements;
  }

  /** Undefined for too many elements, and for any that is no integer or beyond 2^53. */
  static fromHost(tensor: HostTensor): SymbolicTensor | undefined {
    if (tensor.elementCount > MAX_ELEMENTS || tensor.dtype === 'float16') return undefined;
    const elements = Array.from(tensor.data, Number);
    if (!elements.every(Number.isSafeInteger)) return undefined;
    return new SymbolicTensor(tensor.dtype, tensor.shape, elements);
  }

  /** The tensor itself once no element is symbolic. */
  toHost(): HostTensor | undefined {
    const numbers: number[] = [];
    for (const element of this.elements) {
      if (typeof element !== 'number') return undefined;
      numbers.push(element);
    }
    return HostTensor.from(this.dtype, this.shape, numbers);
  }

  /** The position of each element, for operators that only move them. */
  positions(first = 0): HostTensor {
    const positions = this.elements.map((_, i) => first + i);
    return HostTensor.from('int32', this.shape, positions);
  }
}

export function isInteger(dtype: DType): boolean {
  return dtypeInfo(dtype).category !== 'float';
}
