/**
 * The `dequantize_row_*` of ggml (ggml/src/ggml-quants.c), loop by loop and rounded to float32 after each
 * operation. Tests hold the decoders to them; nothing here shares code with those.
 */
export const GGML_DEQUANTIZE: Readonly<Record<string, (bytes: Uint8Array) => number[]>> = {
  Q4_0: (bytes) => rows(bytes, 18, dequantizeQ4),
  Q8_0: (bytes) => rows(bytes, 34, dequantizeQ8),
  Q4_K: (bytes) => rows(bytes, 144, dequantizeQ4K),
  Q5_K: (bytes) => rows(bytes, 176, dequantizeQ5K),
  Q6_K: (bytes) => rows(bytes, 210, dequantizeQ6K),
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
