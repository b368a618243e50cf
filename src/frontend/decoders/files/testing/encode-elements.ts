import { ByteWriter } from '../../../../core/bytes/byte-writer.ts';
import { numberToFloat16 } from '../../../../core/tensor/float16.ts';
import { seededRandom } from '../../../../core/random.ts';
import { numberToSmallFloat } from '../../../../core/tensor/small-floats.ts';
import { blockFormat } from '../blocks/block-formats.ts';
import { nearestIq4 } from './encode-iq4.ts';
import { encodeKBlocks } from './encode-k-blocks.ts';

/** Float32 elements as bytes of a type, each rounded to one that is near and that it has. */
export function encodeElements(type: string, values: ArrayLike<number>): Uint8Array {
  const out = new ByteWriter();
  const all = Float32Array.from(values);
  const inKBlocks = encodeKBlocks(type, all);
  if (inKBlocks !== undefined) return inKBlocks;
  switch (type) {
    case 'F32':
      return new Uint8Array(all.buffer);
    case 'F16':
      for (const value of all) out.u16(numberToFloat16(value));
      return out.finish();
    case 'BF16':
      for (const value of all) {
        out.u16(numberToSmallFloat('bfloat16', value, { saturate: false, roundMode: 'nearest' }));
      }
      return out.finish();
    case 'Q8_0':
      for (let i = 0; i < all.length; i += 32) encodeQ8(out, all.subarray(i, i + 32));
      return out.finish();
    case 'Q4_0':
    case 'Q5_0':
      for (let i = 0; i < all.length; i += 32) encodeSigned(out, all.subarray(i, i + 32), type);
      return out.finish();
    case 'Q4_1':
    case 'Q5_1':
      for (let i = 0; i < all.length; i += 32) encodeMinimum(out, all.subarray(i, i + 32), type);
      return out.finish();
    case 'IQ4_NL':
      for (let i = 0; i < all.length; i += 32) encodeIq4Nl(out, all.subarray(i, i + 32));
      return out.finish();
    case 'MXFP4':
      for (let i = 0; i < all.length; i += 32) encodeMxfp4(out, all.subarray(i, i + 32));
      return out.finish();
    default:
      throw new Error(`no encoder of ${type}`);
  }
}

/** `quantize_row_q8_0_ref` of ggml, but for ties. */
function encodeQ8(out: ByteWriter, values: Float32Array): void {
  const scale = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
  out.u16(numberToFloat16(scale));
  for (const x of values) out.u8((scale === 0 ? 0 : Math.round(x / scale)) & 255);
}

/** `quantize_row_q4_0_ref` and `q5_0` of ggml: the element farthest from 0 becomes code 0, which is -8 or -16 scales. */
function encodeSigned(out: ByteWriter, values: Float32Array, type: 'Q4_0' | 'Q5_0'): void {
  const middle = type === 'Q4_0' ? 8 : 16;
  const scale = farthest(values) / -middle;
  out.u16(numberToFloat16(scale));
  const codes = Array.from(values, (x) =>
    scale === 0 ? middle : Math.min(2 * middle - 1, Math.trunc(x / scale + middle + 0.5)),
  );
  if (type === 'Q5_0') writeFifthBits(out, codes);
  writeHalves(out, codes);
}

/** `quantize_row_q4_1_ref` and `q5_1` of ggml: the least element is code 0, the largest one the last code. */
function encodeMinimum(out: ByteWriter, values: Float32Array, type: 'Q4_1' | 'Q5_1'): void {
  const last = type === 'Q4_1' ? 15 : 31;
  const least = Math.min(...values);
  const scale = (Math.max(...values) - least) / last;
  out.u16(numberToFloat16(scale)).u16(numberToFloat16(least));
  const codes = Array.from(values, (x) =>
    scale === 0 ? 0 : Math.min(last, Math.trunc((x - least) / scale + 0.5)),
  );
  if (type === 'Q5_1') writeFifthBits(out, codes);
  writeHalves(out, codes);
}

/** The element farthest from 0 becomes the farthest value, -127 scales. */
function encodeIq4Nl(out: ByteWriter, values: Float32Array): void {
  const scale = farthest(values) / -127;
  out.u16(numberToFloat16(scale));
  writeHalves(
    out,
    Array.from(values, (x) => nearestIq4(scale === 0 ? 0 : x / scale)),
  );
}

const farthest = (values: Float32Array): number =>
  values.reduce((far, x) => (Math.abs(x) > Math.abs(far) ? x : far), 0);

function writeFifthBits(out: ByteWriter, codes: readonly number[]): void {
  for (let i = 0; i < 32; i += 8) {
    out.u8(codes.slice(i, i + 8).reduce((bits, code, at) => bits | ((code >> 4) << at), 0));
  }
}

/** The low four bits of 32 codes: the first half in the low halves of bytes, the second in the high ones. */
function writeHalves(out: ByteWriter, codes: readonly number[]): void {
  for (let i = 0; i < 16; i++) out.u8(((codes[i] ?? 0) & 15) | (((codes[i + 16] ?? 0) & 15) << 4));
}

/** The magnitudes of float4e2m1 by their bits. */
const FLOAT4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6];

/** A power of two as scale, the least with which the largest element is still one. */
function encodeMxfp4(out: ByteWriter, values: Float32Array): void {
  const most = values.reduce((far, x) => Math.max(far, Math.abs(x)), 0);
  const exponent = most === 0 ? 0 : Math.max(2, Math.ceil(Math.log2(most / 6)) + 127);
  out.u8(exponent);
  const codes = Array.from(values, (x) => {
    const size = Math.abs(x) / 2 ** (exponent - 127);
    const distances = FLOAT4.map((value) => Math.abs(value - size));
    return distances.indexOf(Math.min(...distances)) | (x < 0 ? 8 : 0);
  });
  writeHalves(out, codes);
}

/** The byte offsets of the float16 scales in a block. */
const SCALES_AT: Readonly<Record<string, readonly number[]>> = {
  Q4_0: [0],
  Q4_1: [0, 2],
  Q5_0: [0],
  Q5_1: [0, 2],
  Q8_0: [0],
  Q2_K: [80, 82],
  Q3_K: [108],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
  IQ4_NL: [0],
  IQ4_XS: [0],
  MXFP4: [],
};

/** Blocks of random codes and scales: all that a file may hold, not only what an encoder writes. Elements are of the order of `size`. */
export function randomBlocks(type: string, count: number, { seed = 1, size = 1 } = {}): Uint8Array {
  const format = blockFormat(type);
  if (format === undefined) throw new Error(`no blocks of ${type}`);
  const random = seededRandom(seed);
  const blocks = (count / format.elements) * format.bytes;
  const bytes = Uint8Array.from({ length: blocks }, () => Math.floor(random() * 256));
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += format.bytes) {
    for (const place of SCALES_AT[type] ?? []) {
      view.setUint16(at + place, numberToFloat16((random() - 0.3) * size), true);
    }
    if (type === 'MXFP4') bytes[at] = 116 + Math.floor(random() * 6);
  }
  return bytes;
}
