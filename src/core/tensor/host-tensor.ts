import { type DType, dtypeInfo, type TypedArray } from './dtype.ts';
import { instanceOf, type OptionKind, requireKind } from '../check-options.ts';
import { ShapeError } from '../errors.ts';
import { elementCount, formatShape, type Shape } from './shape.ts';
import { reserveTensorMemory } from '../limits/work-meter.ts';

/** Reads stored bytes of a tensor that is not held in memory; always the same. */
export type StoredBytesReader = (byteOffset: number, byteLength: number) => Uint8Array;

/**
 * A tensor in host memory, row-major. A *splat* holds one element that stands for all of them, so
 * that a 100 MB constant of equal values costs a few bytes until somebody asks for its `data`. A *lazy* tensor
 * lies elsewhere, such as in a file, and is read each time that somebody asks for its elements.
 */
export class HostTensor {
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
  /** True when `elements` holds one element for the whole tensor. */
  readonly isSplat: boolean;
  /** The elements as stored: one for a splat, else `elementCount(shape)`. */
  declare readonly elements: TypedArray;
  readonly #read: StoredBytesReader | undefined;

  constructor(
    dtype: DType,
    shape: Shape,
    elements: TypedArray | StoredBytesReader,
    isSplat = false,
  ) {
    requireType(dtype, shape);
    this.dtype = dtype;
    this.shape = shape;
    this.isSplat = isSplat;
    if (typeof elements === 'function') {
      this.#read = elements;
      const read = (): TypedArray => {
        const bytes = elements(0, this.byteLength);
        return HostTensor.fromBytes(dtype, shape, bytes).elements;
      };
      Object.defineProperty(this, 'elements', { get: read, enumerable: true });
      return;
    }
    requireKind('HostTensor', 'numbers', ['elements that are', elements]);
    const expected = isSplat ? 1 : elementCount(shape);
    if (elements.length !== expected) {
      throw new ShapeError({
        where: 'tensor',
        got: `${elements.length} elements`,
        expected: `${expected} for ${dtype} ${formatShape(shape)}`,
      });
    }
    if (!(elements instanceof dtypeInfo(dtype).array)) {
      throw new ShapeError({
        where: 'tensor',
        got: elements.constructor.name,
        expected: `${dtypeInfo(dtype).array.name} for ${dtype}`,
      });
    }
    this.elements = elements;
  }

  /** A tensor of zeros. */
  static zeros(dtype: DType, shape: Shape): HostTensor {
    requireType(dtype, shape);
    return new HostTensor(dtype, shape, newElements(dtype, elementCount(shape)));
  }

  /** A tensor whose elements all equal `value` (raw bits for float16). */
  static splat(dtype: DType, shape: Shape, value: number | bigint): HostTensor {
    requireType(dtype, shape);
    const elements = newElements(dtype, 1);
    setElement(elements, 0, value);
    return new HostTensor(dtype, shape, elements, true);
  }

  /** A tensor from numbers; bigints are converted where the dtype holds them. */
  static from(dtype: DType, shape: Shape, values: ArrayLike<number | bigint>): HostTensor {
    requireType(dtype, shape);
    requireKind('HostTensor.from', 'numbers', ['values that are', values]);
    const elements = newElements(dtype, values.length);
    for (let i = 0; i < values.length; i++) setElement(elements, i, values[i] ?? 0);
    return new HostTensor(dtype, shape, elements);
  }

  /** Views bytes as a tensor, without a copy where the alignment allows. */
  static fromBytes(dtype: DType, shape: Shape, bytes: Uint8Array): HostTensor {
    requireType(dtype, shape);
    const { array, byteLength } = dtypeInfo(dtype);
    const count = elementCount(shape);
    if (bytes.byteLength !== count * byteLength) {
      throw new ShapeError({
        where: 'tensor',
        got: `${bytes.byteLength} bytes`,
        expected: `${count * byteLength} for ${dtype} ${formatShape(shape)}`,
      });
    }
    const aligned = bytes.byteOffset % byteLength === 0 ? bytes : new Uint8Array(bytes);
    return new HostTensor(dtype, shape, new array(aligned.buffer, aligned.byteOffset, count));
  }

  /** True if the elements are read anew each time. */
  get isLazy(): boolean {
    return this.#read !== undefined;
  }

  /** Bytes of {@link elements}, of a lazy tensor without reading it. */
  get storedByteLength(): number {
    return this.isLazy ? this.byteLength : this.elements.byteLength;
  }

  /** A part of the bytes of {@link elements}; of a lazy tensor only that part is read. */
  storedBytes(byteOffset: number, byteLength: number): Uint8Array {
    if (this.#read !== undefined) return this.#read(byteOffset, byteLength);
    const { buffer, byteOffset: start } = this.elements;
    return new Uint8Array(buffer, start + byteOffset, byteLength);
  }

  /** Elements that the shape holds. */
  get elementCount(): number {
    return elementCount(this.shape);
  }

  /** Bytes of the whole tensor, a splat counted in full. */
  get byteLength(): number {
    return this.elementCount * dtypeInfo(this.dtype).byteLength;
  }

  /** All elements. For a splat a new array at each call. */
  get data(): TypedArray {
    if (!this.isSplat) return this.elements;
    const data = newElements(this.dtype, this.elementCount);
    const value = this.elements[0] ?? 0;
    if (data instanceof BigInt64Array || data instanceof BigUint64Array) data.fill(BigInt(value));
    else data.fill(Number(value));
    return data;
  }

  /** The bytes of {@link data}. */
  get bytes(): Uint8Array {
    const data = this.data;
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }

  /** The same elements under another shape of equal size. */
  reshape(shape: Shape): HostTensor {
    return new HostTensor(this.dtype, shape, this.elements, this.isSplat);
  }
}

export const HOST_TENSOR: OptionKind = instanceOf('a HostTensor', HostTensor);

function requireType(dtype: DType, shape: Shape): void {
  requireKind('HostTensor', 'dtype', ['dtype', dtype]);
  requireKind('HostTensor', 'shape', ['the shape', shape]);
}

function newElements(dtype: DType, count: number): TypedArray {
  const { array, byteLength } = dtypeInfo(dtype);
  reserveTensorMemory(count * byteLength);
  return new array(count);
}

function setElement(array: TypedArray, index: number, value: number | bigint): void {
  const isWide = array instanceof BigInt64Array || array instanceof BigUint64Array;
  const isFraction = isWide && typeof value === 'number' && !Number.isInteger(value);
  if (isFraction || typeof value === 'string' || typeof value === 'object') {
    requireKind('HostTensor', isWide ? 'integer' : 'number', ['the element', value]);
  }
  if (isWide) {
    array[index] = BigInt(value);
  } else {
    array[index] = Number(value);
  }
}
