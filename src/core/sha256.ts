const BLOCK_BYTE_LENGTH = 64;
const LENGTH_BYTE_LENGTH = 8;
const PRIMES = primes(64);
/** The first 32 bits of the fractions of cube roots of the first 64 primes. */
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
/** Those of square roots of the first 8. */
const INITIAL_STATE = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/**
 * The SHA-256 of some bytes (FIPS 180-4): 32 bytes. `crypto.subtle` computes the same, but not at
 * once, and only in secure contexts.
 */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = INITIAL_STATE.slice();
  const schedule = new Int32Array(ROUND_CONSTANTS.length);
  const wholeByteLength = bytes.byteLength - (bytes.byteLength % BLOCK_BYTE_LENGTH);
  const source = viewOf(bytes);
  for (let at = 0; at < wholeByteLength; at += BLOCK_BYTE_LENGTH) {
    addBlock(state, schedule, { source, at });
  }
  const end = paddedEnd(bytes, wholeByteLength);
  for (let at = 0; at < end.byteLength; at += BLOCK_BYTE_LENGTH) {
    addBlock(state, schedule, { source: end, at });
  }
  const result = new Uint8Array(state.byteLength);
  const view = viewOf(result);
  for (const [i, word] of state.entries()) view.setInt32(4 * i, word);
  return result;
}

/** The rest of the bytes, a bit, zeros, and the count of bits: one or two blocks. */
function paddedEnd(bytes: Uint8Array, start: number): DataView {
  const rest = bytes.subarray(start);
  const isLong = rest.byteLength + 1 + LENGTH_BYTE_LENGTH > BLOCK_BYTE_LENGTH;
  const end = new Uint8Array(BLOCK_BYTE_LENGTH * (isLong ? 2 : 1));
  end.set(rest);
  end[rest.byteLength] = 0x80;
  const view = viewOf(end);
  view.setBigUint64(end.byteLength - LENGTH_BYTE_LENGTH, BigInt(bytes.byteLength) * 8n);
  return view;
}

interface Block {
  readonly source: DataView;
  readonly at: number;
}

function addBlock(state: Int32Array, schedule: Int32Array, { source, at }: Block): void {
  for (let i = 0; i < schedule.length; i++) {
    schedule[i] = i < 16 ? source.getInt32(at + 4 * i) : extended(schedule, i);
  }
  // Not taken apart as a list: iterators would cost more than the rounds.
  const of = (i: number): number => state[i] ?? 0;
  let a = of(0);
  let b = of(1);
  let c = of(2);
  let d = of(3);
  let e = of(4);
  let f = of(5);
  let g = of(6);
  let h = of(7);
  for (let i = 0; i < schedule.length; i++) {
    const sigma1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = g ^ (e & (f ^ g));
    const next = (h + sigma1 + choice + (ROUND_CONSTANTS[i] ?? 0) + (schedule[i] ?? 0)) | 0;
    const sigma0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) | (c & (a | b));
    h = g;
    g = f;
    f = e;
    e = (d + next) | 0;
    d = c;
    c = b;
    b = a;
    a = (next + sigma0 + majority) | 0;
  }
  const words = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < state.length; i++) state[i] = of(i) + (words[i] ?? 0);
}

function extended(schedule: Int32Array, i: number): number {
  const x = schedule[i - 15] ?? 0;
  const y = schedule[i - 2] ?? 0;
  const sigma0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
  const sigma1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
  return ((schedule[i - 16] ?? 0) + sigma0 + (schedule[i - 7] ?? 0) + sigma1) | 0;
}

function rotated(word: number, count: number): number {
  return (word >>> count) | (word << (32 - count));
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  }
  return found;
}

/** The first 32 bits after the point, as a signed word. */
function fraction(x: number): number {
  return Math.floor((x % 1) * 2 ** 32) | 0;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
