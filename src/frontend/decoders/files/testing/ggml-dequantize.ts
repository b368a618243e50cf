/**
 * The `dequantize_row_*` of ggml (ggml/src/ggml-quants.c), loop by loop and rounded to float32 after each
 * operation. Tests hold the decoders to them; nothing here shares code with those.
 */
export const GGML_DEQUANTIZE: Readonly<Record<string, (bytes: Uint8Array) => number[]>> = {
  Q4_0: (bytes) => rows(bytes, 18, dequantizeQ4),
  Q4_1: (bytes) => rows(bytes, 20, dequantizeQ41),
  Q5_0: (bytes) => rows(bytes, 22, dequantizeQ50),
  Q5_1: (bytes) => rows(bytes, 24, dequantizeQ51),
  Q8_0: (bytes) => rows(bytes, 34, dequantizeQ8),
  Q2_K: (bytes) => rows(bytes, 84, dequantizeQ2K),
  Q3_K: (bytes) => rows(bytes, 110, dequantizeQ3K),
  Q4_K: (bytes) => rows(bytes, 144, dequantizeQ4K),
  Q5_K: (bytes) => rows(bytes, 176, dequantizeQ5K),
  Q6_K: (bytes) => rows(bytes, 210, dequantizeQ6K),
  IQ4_NL: (bytes) => rows(bytes, 18, dequantizeIq4Nl),
  IQ4_XS: (bytes) => rows(bytes, 136, dequantizeIq4Xs),
  MXFP4: (bytes) => rows(bytes, 17, dequantizeMxfp4),
};

const f = Math.fround;
const mul = (a: number, b: number): number => f(f(a) * f(b));

function rows(bytes: Uint8Array, size: number, block: (bytes: number[]) => number[]): number[] {
  const all: number[] = [];
  for (let i = 0; i < bytes.length; i += size) all.push(...block([...bytes.subarray(i, i + size)]));
  return all;
}

/** The float16 in two bytes, by way of the bits of a float32. */
function half(low = 0, high = 0): number {
  const bits = low | (high << 8);
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const sign = bits >> 15 === 1 ? -1 : 1;
  if (exponent === 0) return sign * (fraction / 16777216);
  const word = new Uint32Array([((exponent + 112) << 23) | (fraction << 13)]);
  return sign * (new Float32Array(word.buffer)[0] ?? 0);
}

const signed = (byte = 0): number => (byte << 24) >> 24;

function dequantizeQ4(x: number[]): number[] {
  const d = half(x[0], x[1]);
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[2 + j] ?? 0;
    y[j] = mul((q & 0x0f) - 8, d);
    y[j + 16] = mul((q >> 4) - 8, d);
  }
  return y;
}

function dequantizeQ41(x: number[]): number[] {
  const [d, m] = [half(x[0], x[1]), half(x[2], x[3])];
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[4 + j] ?? 0;
    y[j] = f(mul(q & 0x0f, d) + m);
    y[j + 16] = f(mul(q >> 4, d) + m);
  }
  return y;
}

/** `qh` of a block, of which both loops below take bits j and j + 12 at the place of 0x10. */
const highBits = (x: number[], at: number): number =>
  ((x[at] ?? 0) | ((x[at + 1] ?? 0) << 8) | ((x[at + 2] ?? 0) << 16) | ((x[at + 3] ?? 0) << 24)) >>>
  0;

function dequantizeQ50(x: number[]): number[] {
  const d = half(x[0], x[1]);
  const qh = highBits(x, 2);
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[6 + j] ?? 0;
    const xh0 = ((qh >>> j) << 4) & 0x10;
    const xh1 = (qh >>> (j + 12)) & 0x10;
    y[j] = mul(((q & 0x0f) | xh0) - 16, d);
    y[j + 16] = mul(((q >> 4) | xh1) - 16, d);
  }
  return y;
}

function dequantizeQ51(x: number[]): number[] {
  const [d, m] = [half(x[0], x[1]), half(x[2], x[3])];
  const qh = highBits(x, 4);
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[8 + j] ?? 0;
    const xh0 = ((qh >>> j) << 4) & 0x10;
    const xh1 = (qh >>> (j + 12)) & 0x10;
    y[j] = f(mul((q & 0x0f) | xh0, d) + m);
    y[j + 16] = f(mul((q >> 4) | xh1, d) + m);
  }
  return y;
}

function dequantizeQ2K(x: number[]): number[] {
  const [d, min] = [half(x[80], x[81]), half(x[82], x[83])];
  const y: number[] = [];
  for (let n = 0, is = 0; n < 2; n++) {
    const q = x.slice(16 + 32 * n, 48 + 32 * n);
    for (let shift = 0; shift < 8; shift += 2) {
      for (const part of [q.slice(0, 16), q.slice(16)]) {
        const sc = x[is++] ?? 0;
        const [dl, ml] = [mul(d, sc & 0xf), mul(min, sc >> 4)];
        for (const b of part) y.push(f(mul(dl, (b >> shift) & 3) - ml));
      }
    }
  }
  return y;
}

function dequantizeQ3K(x: number[]): number[] {
  const d = half(x[108], x[109]);
  const [hm, packed] = [x.slice(0, 32), new Uint32Array(Uint8Array.from(x.slice(96, 108)).buffer)];
  const [a0 = 0, a1 = 0, tmp = 0] = packed;
  const [kmask1, kmask2] = [0x03030303, 0x0f0f0f0f];
  const words = Uint32Array.of(
    (a0 & kmask2) | ((tmp & kmask1) << 4),
    (a1 & kmask2) | (((tmp >>> 2) & kmask1) << 4),
    ((a0 >>> 4) & kmask2) | (((tmp >>> 4) & kmask1) << 4),
    ((a1 >>> 4) & kmask2) | (((tmp >>> 6) & kmask1) << 4),
  );
  const scales = [...new Int8Array(words.buffer)];
  const y: number[] = [];
  for (let n = 0, is = 0, m = 1; n < 2; n++) {
    const q = x.slice(32 + 32 * n, 64 + 32 * n);
    for (let shift = 0; shift < 8; shift += 2, m <<= 1) {
      for (const first of [0, 16]) {
        const dl = mul(d, (scales[is++] ?? 0) - 32);
        for (let l = first; l < first + 16; l++) {
          const low = ((q[l] ?? 0) >> shift) & 3;
          y.push(mul(dl, low - ((hm[l] ?? 0) & m ? 0 : 4)));
        }
      }
    }
  }
  return y;
}

const KVALUES_IQ4NL = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

function dequantizeIq4Nl(x: number[]): number[] {
  const d = half(x[0], x[1]);
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[2 + j] ?? 0;
    y[j] = mul(d, KVALUES_IQ4NL[q & 0xf] ?? 0);
    y[j + 16] = mul(d, KVALUES_IQ4NL[q >> 4] ?? 0);
  }
  return y;
}

function dequantizeIq4Xs(x: number[]): number[] {
  const d = half(x[0], x[1]);
  const scalesH = (x[2] ?? 0) | ((x[3] ?? 0) << 8);
  const y: number[] = [];
  for (let ib = 0; ib < 8; ib++) {
    const low = ((x[4 + Math.floor(ib / 2)] ?? 0) >> (4 * (ib % 2))) & 0xf;
    const dl = mul(d, (low | (((scalesH >> (2 * ib)) & 3) << 4)) - 32);
    const qs = x.slice(8 + 16 * ib, 24 + 16 * ib);
    for (const q of qs) y.push(mul(dl, KVALUES_IQ4NL[q & 0xf] ?? 0));
    for (const q of qs) y.push(mul(dl, KVALUES_IQ4NL[q >> 4] ?? 0));
  }
  return y;
}

function dequantizeQ8(x: number[]): number[] {
  const d = half(x[0], x[1]);
  return x.slice(2).map((q) => mul(signed(q), d));
}

/** `get_scale_min_k4` */
function scaleMin(j: number, q: readonly number[]): [number, number] {
  const at = (i: number): number => q[i] ?? 0;
  if (j < 4) return [at(j) & 63, at(j + 4) & 63];
  return [(at(j + 4) & 0xf) | ((at(j - 4) >> 6) << 4), (at(j + 4) >> 4) | ((at(j) >> 6) << 4)];
}

function dequantizeQ4K(x: number[]): number[] {
  const [d, min] = [half(x[0], x[1]), half(x[2], x[3])];
  const [scales, qs] = [x.slice(4, 16), x.slice(16)];
  const y: number[] = [];
  for (let j = 0, is = 0; j < 256; j += 64, is += 2) {
    const q = qs.slice(j / 2, j / 2 + 32);
    const [sc1, m1] = scaleMin(is, scales);
    const [sc2, m2] = scaleMin(is + 1, scales);
    for (const b of q) y.push(f(mul(mul(d, sc1), b & 0xf) - mul(min, m1)));
    for (const b of q) y.push(f(mul(mul(d, sc2), b >> 4) - mul(min, m2)));
  }
  return y;
}

function dequantizeQ5K(x: number[]): number[] {
  const [d, min] = [half(x[0], x[1]), half(x[2], x[3])];
  const [scales, qh, qs] = [x.slice(4, 16), x.slice(16, 48), x.slice(48)];
  const y: number[] = [];
  let [u1, u2] = [1, 2];
  for (let j = 0, is = 0; j < 256; j += 64, is += 2) {
    const ql = qs.slice(j / 2, j / 2 + 32);
    const [sc1, m1] = scaleMin(is, scales);
    const [sc2, m2] = scaleMin(is + 1, scales);
    const high = (l: number, u: number): number => ((qh[l] ?? 0) & u ? 16 : 0);
    for (const [l, b] of ql.entries()) {
      y.push(f(mul(mul(d, sc1), (b & 0xf) + high(l, u1)) - mul(min, m1)));
    }
    for (const [l, b] of ql.entries()) {
      y.push(f(mul(mul(d, sc2), (b >> 4) + high(l, u2)) - mul(min, m2)));
    }
    u1 <<= 2;
    u2 <<= 2;
  }
  return y;
}

function dequantizeQ6K(x: number[]): number[] {
  const d = half(x[208], x[209]);
  const y = new Array<number>(256);
  for (let n = 0; n < 2; n++) {
    const ql = x.slice(64 * n, 64 * n + 64);
    const qh = x.slice(128 + 32 * n, 160 + 32 * n);
    const sc = x.slice(192 + 8 * n, 200 + 8 * n).map(signed);
    for (let l = 0; l < 32; l++) {
      const is = Math.floor(l / 16);
      const [low, next, h] = [ql[l] ?? 0, ql[l + 32] ?? 0, qh[l] ?? 0];
      const q1 = ((low & 0xf) | (((h >> 0) & 3) << 4)) - 32;
      const q2 = ((next & 0xf) | (((h >> 2) & 3) << 4)) - 32;
      const q3 = ((low >> 4) | (((h >> 4) & 3) << 4)) - 32;
      const q4 = ((next >> 4) | (((h >> 6) & 3) << 4)) - 32;
      y[128 * n + l] = mul(mul(d, sc[is] ?? 0), q1);
      y[128 * n + l + 32] = mul(mul(d, sc[is + 2] ?? 0), q2);
      y[128 * n + l + 64] = mul(mul(d, sc[is + 4] ?? 0), q3);
      y[128 * n + l + 96] = mul(mul(d, sc[is + 6] ?? 0), q4);
    }
  }
  return y;
}

const KVALUES_MXFP4 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

function dequantizeMxfp4(x: number[]): number[] {
  const e = x[0] ?? 0;
  // `ggml_e8m0_to_fp32_half`
  const bits = e < 2 ? 0x00200000 << e : (e - 1) << 23;
  const d = new Float32Array(new Uint32Array([bits]).buffer)[0] ?? 0;
  const y = new Array<number>(32);
  for (let j = 0; j < 16; j++) {
    const q = x[1 + j] ?? 0;
    y[j] = mul(KVALUES_MXFP4[q & 0x0f] ?? 0, d);
    y[j + 16] = mul(KVALUES_MXFP4[q >> 4] ?? 0, d);
  }
  return y;
}
