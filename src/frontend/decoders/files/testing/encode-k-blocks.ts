import { ByteWriter } from '../../../../core/bytes/byte-writer.ts';
import { float16ToNumber, numberToFloat16 } from '../../../../core/tensor/float16.ts';
import { nearestIq4 } from './encode-iq4.ts';

/** How many elements a block has. */
const BLOCK = 256;

type BlockEncoder = (out: ByteWriter, block: Float32Array) => void;

/**
 * Encoders of the blocks of 256 elements, with scales from the range of each part. Those of llama.cpp search for better scales;
 * files are read alike whoever made them.
 */
const ENCODERS: Readonly<Record<string, BlockEncoder>> = {
  Q2_K: encodeQ2K,
  Q3_K: encodeQ3K,
  Q4_K: encodeQ4K,
  Q5_K: encodeQ5K,
  Q6_K: encodeQ6K,
  IQ4_XS: encodeIq4Xs,
};

/** Elements in blocks of a type; undefined for one that is not encoded here. */
export function encodeKBlocks(type: string, values: Float32Array): Uint8Array | undefined {
  const encode = ENCODERS[type];
  if (encode === undefined) return undefined;
  if (values.length % BLOCK !== 0) throw new Error(`${values.length} elements in blocks of 256`);
  const out = new ByteWriter();
  for (let i = 0; i < values.length; i += BLOCK) encode(out, values.subarray(i, i + BLOCK));
  return out.finish();
}

/** The elements in parts of a size. */
const partsOf = (block: Float32Array, size: number): Float32Array[] =>
  Array.from({ length: BLOCK / size }, (_, i) => block.subarray(i * size, (i + 1) * size));

const clamped = (x: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, Math.round(x)));

/** A number that float16 has, so that codes are chosen for the scale that the file holds. */
const half = (x: number): number => float16ToNumber(numberToFloat16(x));

interface MinimumBlock {
  /** The float16 scales of scales and of minima. */
  readonly scales: readonly [number, number];
  /** The code of each part's scale. */
  readonly partScales: readonly number[];
  readonly partMinima: readonly number[];
  /** The code of each element. */
  readonly codes: readonly number[];
}

interface MinimumFormat {
  /** Elements of a part. */
  readonly size: number;
  /** The largest code of a part's scale and minimum. */
  readonly mostScale: number;
  /** The largest code of an element. */
  readonly most: number;
}

/** Parts, each `scale * code - minimum`, both as multiples of a scale of the block. */
function minimumBlock(block: Float32Array, { size, mostScale, most }: MinimumFormat): MinimumBlock {
  const parts = partsOf(block, size);
  const minima = parts.map((part) => Math.max(0, -Math.min(...part)));
  const ranges = parts.map((part, i) => (Math.max(...part, 0) + (minima[i] ?? 0)) / most);
  const d = half(Math.max(...ranges) / mostScale);
  const dmin = half(Math.max(...minima) / mostScale);
  const code = (x: number, scale: number): number =>
    scale === 0 ? 0 : clamped(x / scale, 0, mostScale);
  const partScales = ranges.map((range) => code(range, d));
  const partMinima = minima.map((minimum) => code(minimum, dmin));
  const codes = parts.flatMap((part, i) => {
    const scale = d * (partScales[i] ?? 0);
    const minimum = dmin * (partMinima[i] ?? 0);
    return Array.from(part, (x) => (scale === 0 ? 0 : clamped((x + minimum) / scale, 0, most)));
  });
  return { scales: [d, dmin], partScales, partMinima, codes };
}

/** Scales and minima of eight parts in 12 bytes: `get_scale_min_k4` reads them. */
function writePartScales(out: ByteWriter, { scales, partScales, partMinima }: MinimumBlock): void {
  for (const scale of scales) out.u16(numberToFloat16(scale));
  const at = (list: readonly number[], i: number): number => list[i] ?? 0;
  for (const list of [partScales, partMinima]) {
    for (let i = 0; i < 4; i++) out.u8(at(list, i) | ((at(list, i + 4) >> 4) << 6));
  }
  for (let i = 4; i < 8; i++) out.u8((at(partScales, i) & 15) | ((at(partMinima, i) & 15) << 4));
}

/** The low four bits of codes: of 64 in a row the first 32 in the low halves of bytes, the others in the high ones. */
function writeNibbles(out: ByteWriter, codes: readonly number[]): void {
  for (let i = 0; i < BLOCK; i += 64) {
    for (let l = i; l < i + 32; l++)
      out.u8(((codes[l] ?? 0) & 15) | (((codes[l + 32] ?? 0) & 15) << 4));
  }
}

/** The low two bits of codes: of 128 in a row each 32 bytes have one of each quarter. */
function writePairs(out: ByteWriter, codes: readonly number[]): void {
  for (let i = 0; i < BLOCK; i += 128) {
    for (let l = i; l < i + 32; l++) {
      const pairs = [0, 32, 64, 96].map((step) => (codes[l + step] ?? 0) & 3);
      out.u8(pairs.reduce((bits, two, at) => bits | (two << (2 * at)), 0));
    }
  }
}

function encodeQ2K(out: ByteWriter, values: Float32Array): void {
  const block = minimumBlock(values, { size: 16, mostScale: 15, most: 3 });
  for (const [i, scale] of block.partScales.entries()) {
    out.u8(scale | ((block.partMinima[i] ?? 0) << 4));
  }
  writePairs(out, block.codes);
  for (const scale of block.scales) out.u16(numberToFloat16(scale));
}

/** Sixteen parts of 16 elements, each a scale of 6 bits of the block's scale times a code from -4 to 3. */
function encodeQ3K(out: ByteWriter, values: Float32Array): void {
  const { d, scales, codes } = signedBlock(values, {
    size: 16,
    mostScale: 31,
    step: (part) => part.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 3,
    codeOf: (x) => clamped(x, -4, 3) + 4,
  });
  for (let l = 0; l < 32; l++) {
    let bits = 0;
    for (let part = 0; part < 8; part++) bits |= ((codes[part * 32 + l] ?? 0) >> 2) << part;
    out.u8(bits);
  }
  writePairs(out, codes);
  const stored = scales.map((scale) => scale + 32);
  const at = (i: number): number => stored[i] ?? 0;
  for (let i = 0; i < 8; i++) out.u8((at(i) & 15) | ((at(i + 8) & 15) << 4));
  for (let i = 0; i < 4; i++) {
    out.u8([0, 4, 8, 12].reduce((bits, step) => bits | ((at(i + step) >> 4) << (step / 2)), 0));
  }
  out.u16(numberToFloat16(d));
}

/** Eight parts of 32 elements, each a scale of 6 bits of the block's scale times one of 16 values. */
function encodeIq4Xs(out: ByteWriter, values: Float32Array): void {
  const { d, scales, codes } = signedBlock(values, {
    size: 32,
    mostScale: 31,
    step: (part) => part.reduce((far, x) => (Math.abs(x) > Math.abs(far) ? x : far), 0) / -127,
    codeOf: nearestIq4,
  });
  const stored = scales.map((scale) => scale + 32);
  const at = (i: number): number => stored[i] ?? 0;
  out.u16(numberToFloat16(d));
  out.u16(stored.reduce((bits, scale, i) => bits | ((scale >> 4) << (2 * i)), 0));
  for (let i = 0; i < 8; i += 2) out.u8((at(i) & 15) | ((at(i + 1) & 15) << 4));
  for (let i = 0; i < BLOCK; i += 32) {
    for (let l = i; l < i + 16; l++) out.u8((codes[l] ?? 0) | ((codes[l + 16] ?? 0) << 4));
  }
}

interface SignedFormat {
  /** Elements of a part. */
  readonly size: number;
  /** The largest code of a part's scale. */
  readonly mostScale: number;
  /** The scale that a part would have. */
  readonly step: (part: Float32Array) => number;
  /** The code of an element that is so many scales from 0. */
  readonly codeOf: (x: number) => number;
}

/** Parts, each a scale as a multiple of the block's scale. */
function signedBlock(
  block: Float32Array,
  { size, mostScale, step, codeOf }: SignedFormat,
): { readonly d: number; readonly scales: readonly number[]; readonly codes: readonly number[] } {
  const parts = partsOf(block, size);
  const steps = parts.map(step);
  const d = half(Math.max(...steps.map(Math.abs)) / mostScale);
  const scales = steps.map((each) => (d === 0 ? 0 : clamped(each / d, -mostScale, mostScale)));
  const codes = parts.flatMap((part, i) => {
    const scale = d * (scales[i] ?? 0);
    return Array.from(part, (x) => codeOf(scale === 0 ? 0 : x / scale));
  });
  return { d, scales, codes };
}

function encodeQ4K(out: ByteWriter, values: Float32Array): void {
  const block = minimumBlock(values, { size: 32, mostScale: 63, most: 15 });
  writePartScales(out, block);
  writeNibbles(out, block.codes);
}

function encodeQ5K(out: ByteWriter, values: Float32Array): void {
  const block = minimumBlock(values, { size: 32, mostScale: 63, most: 31 });
  writePartScales(out, block);
  // Bit `part` of byte l is the fifth bit of element l of that part.
  for (let l = 0; l < 32; l++) {
    let bits = 0;
    for (let part = 0; part < 8; part++) bits |= ((block.codes[part * 32 + l] ?? 0) >> 4) << part;
    out.u8(bits);
  }
  writeNibbles(out, block.codes);
}

/** Sixteen parts of 16 elements, each a scale in int8 of the block's scale times a code from -32 to 31. */
function encodeQ6K(out: ByteWriter, values: Float32Array): void {
  const parts = partsOf(values, 16);
  const ranges = parts.map((part) => part.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 31);
  const d = half(Math.max(...ranges) / 127);
  const scales = ranges.map((range) => (d === 0 ? 0 : clamped(range / d, 0, 127)));
  const codes = parts.flatMap((part, i) => {
    const scale = d * (scales[i] ?? 0);
    return Array.from(part, (x) => (scale === 0 ? 0 : clamped(x / scale, -32, 31)) + 32);
  });
  const at = (i: number): number => codes[i] ?? 0;
  for (let n = 0; n < BLOCK; n += 128) {
    for (let l = n; l < n + 64; l++) out.u8((at(l) & 15) | ((at(l + 64) & 15) << 4));
  }
  for (let n = 0; n < BLOCK; n += 128) {
    for (let l = n; l < n + 32; l++) {
      const high = [0, 32, 64, 96].map((step) => at(l + step) >> 4);
      out.u8(high.reduce((bits, two, i) => bits | (two << (2 * i)), 0));
    }
  }
  for (const scale of scales) out.u8(scale);
  out.u16(numberToFloat16(d));
}
