import { type DType, dtypeInfo, isBigInt, type TypedArray } from '../core/dtype.ts';
import { ShapeError } from '../core/errors.ts';
import { float16ToNumber, numberToFloat16 } from '../core/float16.ts';
import { elementCount, formatShape } from '../core/element-count.ts';
import type { Shape } from '../core/shape.ts';

type Element = number | bigint | boolean;
export type NestedArray = Element | readonly NestedArray[];

/** A dense tensor in the page, row-major. */
export class Tensor {
  readonly dtype: DType;
  readonly shape: Shape;
  /** `Uint16Array` of bits for float16, `Uint8Array` of 0 and 1 for bool, bigints for int64. */
  readonly data: TypedArray;

  /** Wraps `data` without a copy. Throws ShapeError when array type or length do not fit. */
  constructor(dtype: DType, data: TypedArray, shape: Shape) {
    const { array } = dtypeInfo(dtype);
    const areDims = shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0);
    if (!(data instanceof array) || data.length !== elementCount(shape) || !areDims) {
      throw new ShapeError({
        where: 'Tensor',
        got: `${(data as ArrayLike<number>).length} elements in ${(data as object).constructor.name}`,
        expected: `${areDims ? elementCount(shape) : 'dimensions from 0 up'} in ${array.name} for ${dtype} ${formatShape(shape)}`,
        remedy: 'Tensor.from converts arrays.',
      });
    }
    this.dtype = dtype;
    this.shape = [...shape];
    this.data = data;
  }

  /**
   * A tensor from a number, a nested array, a flat array or a typed array. Without `dtype`, numbers
   * become float32, bigints int64, booleans bool, and a typed array keeps its type. Without
   * `shape`, the nesting gives it. Throws ShapeError for ragged nesting.
   */
  static from(values: NestedArray | TypedArray, dtype?: DType, shape?: Shape): Tensor {
    const flat: ArrayLike<Element> = ArrayBuffer.isView(values) ? values : flatten(values);
    const type = dtype ?? inferDType(values, flat[0]);
    const dims = shape ?? (ArrayBuffer.isView(values) ? [values.length] : nestedShape(values));
    if (ArrayBuffer.isView(values) && values instanceof dtypeInfo(type).array) {
      // Uint16Array elements given as float16 are its bits; all else of the same class is itself.
      return new Tensor(type, values, dims);
    }
    const data = new (dtypeInfo(type).array)(flat.length);
    for (let i = 0; i < flat.length; i++) data[i] = encode(flat[i] ?? 0, type);
    return new Tensor(type, data, dims);
  }

  /** Nested arrays of numbers; bigints for int64 and uint64, booleans for bool. A scalar is bare. */
  toNested(): NestedArray {
    let next = 0;
    const build = (axis: number): NestedArray => {
      const dim = this.shape[axis];
      if (dim === undefined) return decode(this.data[next++] ?? 0, this.dtype);
      return Array.from({ length: dim }, () => build(axis + 1));
    };
    return build(0);
  }
}

function encode(value: Element, dtype: DType): never {
  let stored: number | bigint;
  if (isBigInt(dtype)) stored = BigInt(value);
  else if (dtype === 'float16') stored = numberToFloat16(Number(value));
  else if (dtype === 'bool') stored = value ? 1 : 0;
  else stored = Number(value);
  // The union of typed arrays takes neither numbers nor bigints at an index.
  return stored as never;
}

function decode(value: number | bigint, dtype: DType): Element {
  if (dtype === 'bool') return value !== 0;
  return dtype === 'float16' ? float16ToNumber(Number(value)) : value;
}

function inferDType(values: NestedArray | TypedArray, first: Element | undefined): DType {
  if (ArrayBuffer.isView(values)) {
    const name = values.constructor.name;
    return name.replace(/^Big|Clamped|Array$/g, '').toLowerCase() as DType;
  }
  if (typeof first === 'bigint') return 'int64';
  return typeof first === 'boolean' ? 'bool' : 'float32';
}

function nestedShape(values: NestedArray): number[] {
  const shape: number[] = [];
  for (let level: NestedArray | undefined = values; Array.isArray(level); level = level[0]) {
    shape.push(level.length);
  }
  return shape;
}

function flatten(values: NestedArray): Element[] {
  const shape = nestedShape(values);
  const flat: Element[] = [];
  const visit = (level: NestedArray, axis: number): void => {
    const length = Array.isArray(level) ? level.length : undefined;
    if (length !== shape[axis]) {
      throw new ShapeError({
        where: 'Tensor.from',
        got: `${describe(length)} at depth ${axis}`,
        expected: `${describe(shape[axis])}, as the first one there`,
        remedy: 'All arrays at one depth must have the same length.',
      });
    }
    if (Array.isArray(level)) for (const item of level) visit(item, axis + 1);
    else flat.push(level as Element);
  };
  visit(values, 0);
  return flat;
}

function describe(length: number | undefined): string {
  return length === undefined ? 'a number' : `an array of ${length}`;
}
