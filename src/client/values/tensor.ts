import { allocate } from '../../core/bytes/allocate.ts';
import {
  type DType,
  type DTypeInfo,
  dtypeInfo,
  isBigInt,
  type TypedArray,
} from '../../core/tensor/dtype.ts';
import { describe, requireKind } from '../../core/check-options.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { elementCount, formatShape } from '../../core/tensor/element-count.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { LEAST_ROOM, SPARE_MEMORY } from './spare-memory.ts';

type Element = number | bigint | boolean;
/** A number, or arrays of arrays of numbers, as deep as a tensor has dimensions. */
export type NestedArray = number | bigint | boolean | readonly NestedArray[];

/** A dense tensor in the page, row-major. */
export class Tensor {
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions, the outermost first. */
  readonly shape: Shape;
  /** `Uint16Array` of bits for float16, `Uint8Array` of 0 and 1 for bool, bigints for int64. */
  readonly data: TypedArray;

  /**
   * Wraps `data` without a copy. Throws ShapeError when array type or length do not fit, UsageError for
   * a dtype that does not exist.
   */
  constructor(dtype: DType, data: TypedArray, shape: Shape) {
    const { array } = knownInfo(dtype, 'Tensor');
    const areDims =
      Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0);
    if (!areDims) {
      const got = `the shape ${describe(shape)}`;
      throw new ShapeError({ where: 'Tensor', got, expected: 'a list of sizes from 0 up' });
    }
    if (!(data instanceof array) || data.length !== elementCount(shape)) {
      throw new ShapeError({
        where: 'Tensor',
        got: describeData(data),
        expected: `${elementCount(shape)} in ${array.name} for ${dtype} ${formatShape(shape)}`,
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
   * `shape`, the nesting gives it. Throws ShapeError for ragged nesting, UsageError for a dtype that
   * does not exist and for elements that it cannot hold.
   */
  static from(values: NestedArray | TypedArray, dtype?: DType, shape?: Shape): Tensor {
    const flat: ArrayLike<Element> = ArrayBuffer.isView(values) ? values : flatten(values);
    const type = dtype ?? inferDType(values, flat[0]);
    const dims = shape ?? (ArrayBuffer.isView(values) ? [values.length] : nestedShape(values));
    const { array } = knownInfo(type, 'Tensor.from');
    if (ArrayBuffer.isView(values) && values instanceof array) {
      // Uint16Array elements given as float16 are its bits; all else of the same class is itself.
      return new Tensor(type, values, dims);
    }
    const data = allocate(flat.length, () => new array(flat.length));
    const isExact = /^u?int/.test(type);
    for (let i = 0; i < flat.length; i++) {
      const value = flat[i] as Element;
      const stored = encode(value, type);
      data[i] = stored;
      // A typed array wraps what it cannot hold.
      if (isExact && data[i] !== stored) throw notHeld(value, type);
    }
    return new Tensor(type, data, dims);
  }

  /**
   * Leaves the memory of `data` to results and inputs of later runs, which is faster than to get new
   * memory each time. `data` has no elements afterwards. Without effect on an array that is a part of
   * a buffer, and on less than 64 KiB, for which new memory takes no longer. Idempotent.
   */
  dispose(): void {
    const { buffer, byteLength } = this.data;
    if (byteLength !== buffer.byteLength || byteLength < LEAST_ROOM) return;
    if (buffer instanceof ArrayBuffer) SPARE_MEMORY.keepRoom(buffer);
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

function knownInfo(dtype: DType, where: 'Tensor' | 'Tensor.from'): DTypeInfo {
  if (typeof dtype !== 'object' || dtype === null) {
    requireKind(where, 'dtype', ['dtype', dtype]);
    return dtypeInfo(dtype);
  }
  const order =
    where === 'Tensor' ? 'new Tensor(dtype, data, shape)' : 'Tensor.from(values, dtype, shape)';
  throw new UsageError({
    where,
    got: `${describeData(dtype)} as dtype`,
    expected: 'the name of one',
    remedy: `The order is ${order}.`,
  });
}

function describeData(data: unknown): string {
  const { length } = Object(data) as { readonly length?: unknown };
  const type = data === null || data === undefined ? String(data) : Object(data).constructor.name;
  return typeof length === 'number' ? `${length} elements in ${type}` : type;
}

function encode(value: Element, dtype: DType): never {
  const isNumber = /^(number|bigint|boolean)$/.test(typeof value);
  if (!isNumber) throw notHeld(value);
  if (isBigInt(dtype) && typeof value === 'number' && !Number.isInteger(value)) {
    throw notHeld(value, dtype);
  }
  let stored: number | bigint;
  if (isBigInt(dtype)) stored = BigInt(value);
  else if (dtype === 'float16') stored = numberToFloat16(Number(value));
  else if (dtype === 'bool') stored = value ? 1 : 0;
  else stored = Number(value);
  // The union of typed arrays takes neither numbers nor bigints at an index.
  return stored as never;
}

function notHeld(value: Element, dtype?: DType): UsageError {
  const expected = dtype ? `integers that ${dtype} holds` : 'numbers, bigints or booleans';
  return new UsageError({ where: 'Tensor.from', got: `the element ${describe(value)}`, expected });
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
        got: `${lengthOf(length)} at depth ${axis}`,
        expected: `${lengthOf(shape[axis])}, as the first one there`,
        remedy: 'All arrays at one depth must have the same length.',
      });
    }
    if (Array.isArray(level)) for (const item of level) visit(item, axis + 1);
    else flat.push(level as Element);
  };
  visit(values, 0);
  return flat;
}

function lengthOf(length: number | undefined): string {
  return length === undefined ? 'a number' : `an array of ${length}`;
}
