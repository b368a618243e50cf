import { dtypeInfo, isDType } from '../../../core/tensor/dtype.ts';
import { FormatError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { isRecord, type JsonValue } from './json-data.ts';

/** Bytes that become characters in one go: a call has at most so many arguments. */
const CHUNK_BYTES = 0x6000;

/** A tensor as JSON: little-endian elements as base64; of a splat only the one. */
export function tensorToJson(tensor: HostTensor): { [field: string]: JsonValue } {
  const { dtype, shape, isSplat, elements } = tensor;
  const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) {
    // A multiple of three bytes gives no padding, so that the parts can be joined.
    parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + CHUNK_BYTES))));
  }
  return { dtype, shape, ...(isSplat ? { splat: true } : {}), data: parts.join('') };
}

/** The inverse of {@link tensorToJson}. Throws FormatError. */
export function tensorFromJson(json: unknown, where: string): HostTensor {
  if (!isRecord(json)) throw fault(where, 'no object', 'dtype, shape and data');
  const { dtype, shape, splat, data } = json;
  if (typeof dtype !== 'string' || !isDType(dtype)) {
    throw fault(where, JSON.stringify(dtype) ?? 'nothing', 'the name of a dtype');
  }
  if (!Array.isArray(shape) || !shape.every(isDimension)) {
    throw fault(where, JSON.stringify(shape) ?? 'nothing', 'a shape of integers from 0');
  }
  const dims: readonly number[] = shape;
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (!Number.isSafeInteger(count)) throw fault(where, `${count} elements`, 'fewer');
  const isSplat = splat === true;
  const bytes = typeof data === 'string' ? fromBase64(data) : undefined;
  const expected = (isSplat ? 1 : count) * dtypeInfo(dtype).byteLength;
  if (bytes?.length !== expected) {
    const got = bytes === undefined ? 'no base64' : `${bytes.length} bytes`;
    throw fault(where, got, `${expected} bytes as base64`);
  }
  if (!isSplat) return HostTensor.fromBytes(dtype, dims, bytes);
  return new HostTensor(dtype, dims, HostTensor.fromBytes(dtype, [1], bytes).elements, true);
}

function isDimension(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function fromBase64(data: string): Uint8Array | undefined {
  let text: string;
  try {
    text = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function fault(where: string, got: string, expected: string): FormatError {
  return new FormatError({ where, got, expected });
}
