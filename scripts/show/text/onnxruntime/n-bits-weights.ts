import { decodeFloat16 } from '../../../../src/core/tensor/float16-arrays.ts';
import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import type { WrittenTensor } from '../../../../src/frontend/decoders/files/testing/gguf-writer.ts';

/** Elements of a block, in GGUF and here. */
const BLOCK = 32;
const SCALE_BYTES = 2;

/** Operands of MatMulNBits besides the matrix that it multiplies. */
export interface NBitsWeights {
  /** uint8 [outputs, blocks, bytes of a block] */
  readonly codes: HostTensor;
  /** float32 [outputs * blocks] */
  readonly scales: HostTensor;
  readonly attributes: Readonly<Record<'K' | 'N' | 'bits' | 'block_size', number>>;
}

/**
 * A matrix [outputs, inputs] of Q4_0 or Q8_0 as MatMulNBits has it, with the same codes and scales. Codes of either stand for what is
 * left of their middle, 8 or 128, which is what the operator takes where no zero points are given. Throws Error for other types.
 */
export function nBitsWeights({ name, type, shape, bytes }: WrittenTensor): NBitsWeights {
  const bits = type === 'Q4_0' ? 4 : type === 'Q8_0' ? 8 : undefined;
  if (bits === undefined) throw new Error(`${name}: got ${type}, expected Q4_0 or Q8_0`);
  const [outputs = 0, inputs = 0] = shape;
  const byteLength = (BLOCK * bits) / 8;
  const count = (outputs * inputs) / BLOCK;
  const halves = new Uint16Array(count);
  const codes = new Uint8Array(count * byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let block = 0; block < count; block++) {
    const at = block * (SCALE_BYTES + byteLength);
    halves[block] = view.getUint16(at, true);
    const given = bytes.subarray(at + SCALE_BYTES, at + SCALE_BYTES + byteLength);
    codes.set(bits === 8 ? given.map((code) => code ^ 128) : inPairs(given), block * byteLength);
  }
  return {
    codes: HostTensor.from('uint8', [outputs, inputs / BLOCK, byteLength], codes),
    scales: HostTensor.from('float32', [count], decodeFloat16(halves)),
    attributes: { K: inputs, N: outputs, bits, block_size: BLOCK },
  };
}

/** Codes of 4 bits of which byte i holds those at i and i + 16, as bytes that hold those at 2i and 2i + 1. */
function inPairs(bytes: Uint8Array): Uint8Array {
  const code = (i: number): number => {
    const byte = bytes[i % bytes.length] ?? 0;
    return i < bytes.length ? byte & 15 : byte >> 4;
  };
  return bytes.map((_, i) => code(2 * i) | (code(2 * i + 1) << 4));
}
