import { internalError } from '../core/errors.ts';
import { decodeFloat16 } from '../core/tensor/float16-arrays.ts';
import { numberToFloat16 } from '../core/tensor/float16.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import type { NumberArray } from './define-op.ts';

/** The elements of a float32 tensor, a splat written out. */
export function float32Elements(tensor: HostTensor): Float32Array {
  const elements = tensor.data;
  if (elements instanceof Float32Array) return elements;
  throw internalError(`reference was given ${tensor.dtype} where it computes float32`);
}

export type FloatArray = Float32Array | Float64Array;

/** The elements of a float32 or float64 tensor, a splat written out. */
export function floatElements(tensor: HostTensor): FloatArray {
  const elements = tensor.data;
  if (elements instanceof Float32Array || elements instanceof Float64Array) return elements;
  throw internalError(`reference was given ${tensor.dtype} where it computes floats`);
}

/** The elements of a tensor whose dtype fits JavaScript numbers; of float16 a decoded copy. */
export function numberElements(tensor: HostTensor): NumberArray {
  const elements = tensor.data;
  if (tensor.dtype === 'float16') return decodeFloat16(Uint16Array.from(elements, Number));
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    throw internalError(`reference was given ${tensor.dtype} where it computes numbers`);
  }
  return elements;
}

/** Sets every element to a number, which bool takes as 0 or 1. */
export function fillElements(tensor: HostTensor, value: number): void {
  const { elements } = tensor;
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    elements.fill(BigInt(Math.trunc(value)));
  } else if (tensor.dtype === 'float16') {
    elements.fill(numberToFloat16(value));
  } else {
    elements.fill(tensor.dtype === 'bool' ? Number(value !== 0) : value);
  }
}

/**
 * The elements as unsigned integers of the same width, for operators that only move data: one
 * path for every dtype, and NaN payloads stay as they are. 64-bit elements are bigints, which the
 * type hides because reads and writes then look the same.
 */
export function elementBits(tensor: HostTensor): Uint32Array {
  const { buffer, byteOffset, length, BYTES_PER_ELEMENT } = tensor.data;
  switch (BYTES_PER_ELEMENT) {
    case 1:
      return new Uint8Array(buffer, byteOffset, length) as unknown as Uint32Array;
    case 2:
      return new Uint16Array(buffer, byteOffset, length) as unknown as Uint32Array;
    case 4:
      return new Uint32Array(buffer, byteOffset, length);
    case 8:
      return new BigUint64Array(buffer, byteOffset, length) as unknown as Uint32Array;
    default:
      throw internalError(`elements of ${BYTES_PER_ELEMENT} bytes`);
  }
}

/** Lets an output begin as an input of its type: nothing is copied where it lies in the same memory. */
export function startFrom(input: HostTensor, output: HostTensor): void {
  const [from, to] = [input.data, output.data];
  if (from.buffer === to.buffer && from.byteOffset === to.byteOffset) return;
  elementBits(output).set(elementBits(input));
}
