const SIZE = 624;
const MIDDLE = 397;

/**
 * Numbers from 0 up to 1 of MT19937 (Matsumoto and Nishimura 1998) from a seed, 53 bits each, as NumPy's
 * `RandomState(seed).uniform()` gives them: ONNX's own reference draws what a seeded Dropout drops from it.
 */
export function mersenneUniform(seed: number, count: number): Float64Array {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) {
    const before = state[i - 1] ?? 0;
    state[i] = Math.imul(before ^ (before >>> 30), 1812433253) + i;
  }
  let next = SIZE;
  const word = (): number => {
    if (next === SIZE) {
      twist(state);
      next = 0;
    }
    let y = state[next++] ?? 0;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return Float64Array.from({ length: count }, () => {
    const [high, low] = [word() >>> 5, word() >>> 6];
    return (high * 2 ** 26 + low) / 2 ** 53;
  });
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < SIZE; i++) {
    const y = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % SIZE] ?? 0) & 0x7fffffff);
    const shifted = (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    state[i] = (state[(i + MIDDLE) % SIZE] ?? 0) ^ shifted;
  }
}
