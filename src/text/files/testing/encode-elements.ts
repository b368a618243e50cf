import { ByteWriter } from '../../../core/byte-writer.ts';
import { numberToFloat16 } from '../../../core/float16.ts';
import { seededRandom } from '../../../core/random.ts';
import { numberToSmallFloat } from '../../../core/small-floats.ts';
import { blockFormat } from '../blocks/block-formats.ts';
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
      for (let i = 0; i < all.length; i += 32) encodeQ4(out, all.subarray(i, i + 32));
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

/** `quantize_row_q4_0_ref` of ggml: the element farthest from 0 becomes code 0, which is -8 scales. */
function encodeQ4(out: ByteWriter, values: Float32Array): void {
  const most = values.reduce((far, x) => (Math.abs(x) > Math.abs(far) ? x : far), 0);
  const scale = most / -8;
  out.u16(numberToFloat16(scale));
  const codes = Array.from(values, (x) =>
    scale === 0 ? 8 : Math.min(15, Math.trunc(x / scale + 8.5)),
  );
  for (let i = 0; i < 16; i++) out.u8((codes[i] ?? 0) | ((codes[i + 16] ?? 0) << 4));
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
  for (let i = 0; i < 16; i++) out.u8((codes[i] ?? 0) | ((codes[i + 16] ?? 0) << 4));
}

/** Where blocks have their float16 scales. */
const SCALES_AT: Readonly<Record<string, readonly number[]>> = {
  Q4_0: [0],
  Q8_0: [0],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
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
