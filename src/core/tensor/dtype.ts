/**
 * Element types. `code` is the number that stands in serialized executables: never reuse one.
 * float16 and the smaller floats are held as their bits; bool as 0 or 1. Types of less than 8 bits
 * take a byte for each element.
 */
const DTYPES = {
  float32: { code: 1, byteLength: 4, array: Float32Array, category: 'float' },
  float64: { code: 2, byteLength: 8, array: Float64Array, category: 'float' },
  float16: { code: 3, byteLength: 2, array: Uint16Array, category: 'float' },
  int8: { code: 4, byteLength: 1, array: Int8Array, category: 'int' },
  uint8: { code: 5, byteLength: 1, array: Uint8Array, category: 'uint' },
  int16: { code: 6, byteLength: 2, array: Int16Array, category: 'int' },
  uint16: { code: 7, byteLength: 2, array: Uint16Array, category: 'uint' },
  int32: { code: 8, byteLength: 4, array: Int32Array, category: 'int' },
  uint32: { code: 9, byteLength: 4, array: Uint32Array, category: 'uint' },
  int64: { code: 10, byteLength: 8, array: BigInt64Array, category: 'int' },
  uint64: { code: 11, byteLength: 8, array: BigUint64Array, category: 'uint' },
  bool: { code: 12, byteLength: 1, array: Uint8Array, category: 'bool' },
  bfloat16: { code: 13, byteLength: 2, array: Uint16Array, category: 'float' },
  float8e4m3fn: { code: 14, byteLength: 1, array: Uint8Array, category: 'float' },
  float8e4m3fnuz: { code: 15, byteLength: 1, array: Uint8Array, category: 'float' },
  float8e5m2: { code: 16, byteLength: 1, array: Uint8Array, category: 'float' },
  float8e5m2fnuz: { code: 17, byteLength: 1, array: Uint8Array, category: 'float' },
  float8e8m0: { code: 18, byteLength: 1, array: Uint8Array, category: 'float' },
  float4e2m1: { code: 19, byteLength: 1, array: Uint8Array, category: 'float' },
  int4: { code: 20, byteLength: 1, array: Int8Array, category: 'int' },
  uint4: { code: 21, byteLength: 1, array: Uint8Array, category: 'uint' },
  int2: { code: 22, byteLength: 1, array: Int8Array, category: 'int' },
  uint2: { code: 23, byteLength: 1, array: Uint8Array, category: 'uint' },
} as const;

/** The type of the elements of a tensor. */
export type DType = keyof typeof DTYPES;

/** The typed array that holds host data of a dtype. */
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

export interface DTypeInfo {
  readonly code: number;
  /** Bytes of one element in host memory and in files. */
  readonly byteLength: number;
  readonly array: TypedArrayConstructor;
  readonly category: 'float' | 'int' | 'uint' | 'bool';
}

interface TypedArrayConstructor {
  new (length: number): TypedArray;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): TypedArray;
  readonly BYTES_PER_ELEMENT: number;
}

const INFO: Readonly<Record<DType, DTypeInfo>> = DTYPES;

/** All dtypes, in the order of their codes. */
export const ALL_DTYPES: readonly DType[] = Object.keys(DTYPES).filter(isDType);

const BY_CODE = new Map(ALL_DTYPES.map((dtype) => [INFO[dtype].code, dtype]));

export function dtypeInfo(dtype: DType): DTypeInfo {
  return INFO[dtype];
}

export function isDType(name: string): name is DType {
  return Object.hasOwn(DTYPES, name);
}

/** The dtype of a serialized code, or undefined for a code that this version does not know. */
export function dtypeFromCode(code: number): DType | undefined {
  return BY_CODE.get(code);
}

/** Returns true for dtypes whose elements are bigints on the host. */
export function isBigInt(dtype: DType): boolean {
  return dtype === 'int64' || dtype === 'uint64';
}

/** The dtype in which scalar functions compute: float32 for float16, which is rounded when stored. */
export function computedDType(dtype: DType): DType {
  return dtype === 'float16' ? 'float32' : dtype;
}

/** Bytes of an element in storage: a word for a bool, part of a byte for elements of a few bits. */
export function elementByteLength(dtype: DType): number {
  return dtype === 'bool' ? 4 : INFO[dtype].byteLength;
}

/**
 * Bytes that `elementCount` elements take in a device storage. There bool is one 32-bit word per
 * element, since WGSL has no smaller addressable type; all else is as on the host, rounded up to
 * whole words.
 */
export function storageByteLength(dtype: DType, elementCount: number): number {
  return Math.ceil((elementCount * elementByteLength(dtype)) / 4) * 4;
}
