import { type DType, dtypeInfo, type TypedArray } from '../../core/tensor/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { formatNumber } from './text-format.ts';

/** Tensors of more elements are printed as base64. */
export const MAX_PRINTED_ELEMENTS = 32;
const BASE64_LINE_BYTES = 66;

/** How floats of a dtype travel between bits and numbers. */
interface FloatCodec {
  readonly hexDigits: number;
  readonly nan: bigint;
  /** The most digits that a number may need. */
  readonly digits: number;
  read(view: DataView, byteOffset: number): { bits: bigint; value: number };
  write(view: DataView, byteOffset: number, value: number): void;
  writeBits(view: DataView, byteOffset: number, bits: bigint): void;
}

const FLOATS: Partial<Record<DType, FloatCodec>> = {
  float16: {
    hexDigits: 4,
    nan: 0x7e00n,
    digits: 5,
    read: (view, at) => {
      const bits = view.getUint16(at, true);
      return { bits: BigInt(bits), value: float16ToNumber(bits) };
    },
    write: (view, at, value) => view.setUint16(at, numberToFloat16(value), true),
    writeBits: (view, at, bits) => view.setUint16(at, Number(bits), true),
  },
  float32: {
    hexDigits: 8,
    nan: 0x7fc0_0000n,
    digits: 9,
    read: (view, at) => ({
      bits: BigInt(view.getUint32(at, true)),
      value: view.getFloat32(at, true),
    }),
    write: (view, at, value) => view.setFloat32(at, value, true),
    writeBits: (view, at, bits) => view.setUint32(at, Number(bits), true),
  },
  float64: {
    hexDigits: 16,
    nan: 0x7ff8_0000_0000_0000n,
    digits: 17,
    read: (view, at) => ({
      bits: view.getBigUint64(at, true),
      value: view.getFloat64(at, true),
    }),
    write: (view, at, value) => view.setFloat64(at, value, true),
    writeBits: (view, at, bits) => view.setBigUint64(at, bits, true),
  },
};

/**
 * Elements as numbers that give back every bit: floats in the fewest digits, a NaN with a payload
 * as its bits in hexadecimal.
 */
export function formatElements(dtype: DType, elements: TypedArray): string[] {
  const codec = FLOATS[dtype];
  if (codec === undefined) return Array.from(elements as ArrayLike<number | bigint>, String);
  const { byteLength } = dtypeInfo(dtype);
  const view = new DataView(elements.buffer, elements.byteOffset, elements.byteLength);
  return Array.from({ length: elements.length }, (_, i) => {
    const { bits, value } = codec.read(view, i * byteLength);
    if (!Number.isNaN(value)) return shortest(value, codec);
    return bits === codec.nan ? 'nan' : `0x${bits.toString(16).padStart(codec.hexDigits, '0')}`;
  });
}

/** The fewest digits that round back to the value in its own precision. */
function shortest(value: number, codec: FloatCodec): string {
  if (!Number.isFinite(value) || Number.isInteger(value) || codec.digits === 17) {
    return formatNumber(value);
  }
  const view = new DataView(new ArrayBuffer(8));
  for (let digits = 1; digits < codec.digits; digits++) {
    const candidate = Number(value.toPrecision(digits));
    codec.write(view, 0, candidate);
    if (codec.read(view, 0).value === value) return formatNumber(candidate);
  }
  return formatNumber(Number(value.toPrecision(codec.digits)));
}

/**
 * Reads elements that {@link formatElements} wrote. Returns the position of the first text that is
 * not an element of the dtype instead, if there is one.
 */
export function parseElements(
  dtype: DType,
  texts: readonly string[],
): { elements: TypedArray } | { badIndex: number } {
  const { array, byteLength } = dtypeInfo(dtype);
  const elements = new array(texts.length);
  const view = new DataView(elements.buffer);
  for (const [index, text] of texts.entries()) {
    const codec = FLOATS[dtype];
    const isRead =
      codec === undefined
        ? setInteger(elements, index, text)
        : setFloat(view, index * byteLength, { text, codec });
    if (!isRead) return { badIndex: index };
  }
  return { elements };
}

const INTEGER = /^-?\d+$/;

function setInteger(elements: TypedArray, index: number, text: string): boolean {
  if (!INTEGER.test(text)) return false;
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    elements[index] = BigInt(text);
  } else {
    elements[index] = Number(text);
  }
  return elements[index]?.toString() === BigInt(text).toString();
}

function setFloat(
  view: DataView,
  byteOffset: number,
  { text, codec }: { text: string; codec: FloatCodec },
): boolean {
  if (text.startsWith('0x')) {
    if (text.length !== 2 + codec.hexDigits) return false;
    codec.writeBits(view, byteOffset, BigInt(text));
    return true;
  }
  const value = parseNumber(text);
  if (value === undefined) return false;
  // The engine may choose any NaN.
  if (Number.isNaN(value)) codec.writeBits(view, byteOffset, codec.nan);
  else codec.write(view, byteOffset, value);
  return true;
}

/** The inverse of formatNumber. */
export function parseNumber(text: string): number | undefined {
  if (text === 'nan') return Number.NaN;
  if (text === 'inf') return Infinity;
  if (text === '-inf') return -Infinity;
  return /^-?\d/.test(text) && !text.includes('x') ? Number(text) : undefined;
}

/** Lines of base64. */
export function formatBase64(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; start += BASE64_LINE_BYTES) {
    lines.push(btoa(String.fromCharCode(...bytes.subarray(start, start + BASE64_LINE_BYTES))));
  }
  return lines;
}

/** The bytes of one line of base64; undefined when it is none. */
export function parseBase64(line: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(line)) {
    return undefined;
  }
  return Uint8Array.from(atob(line), (char) => char.charCodeAt(0));
}
