import { UsageError } from '../../core/errors.ts';

/** Zero crossings of the filter on each side, and the share of the band that passes. */
const CROSSINGS = 6;
const ROLLOFF = 0.99;

/**
 * Samples at another rate: a sinc under a Hann window, as `torchaudio.functional.resample` has it by default. Rates are whole numbers.
 * Throws UsageError for others.
 */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from <= 0 || to <= 0) {
    throw new UsageError({
      where: 'resample',
      got: `rates of ${from} and ${to}`,
      expected: 'whole numbers above 0',
    });
  }
  const divisor = greatestDivisor(from, to);
  const [step, phases] = [from / divisor, to / divisor];
  const base = Math.min(step, phases) * ROLLOFF;
  const reach = Math.ceil((CROSSINGS * step) / base);
  const taps = 2 * reach + step;
  const kernels = Array.from({ length: phases }, (_, phase) =>
    Float64Array.from({ length: taps }, (_, k) => {
      const t = (-phase / phases + (k - reach) / step) * base;
      return kernelAt(t) * (base / step);
    }),
  );
  const out = new Float32Array(Math.ceil((samples.length * phases) / step));
  for (let i = 0; i < out.length; i++) {
    const kernel = kernels[i % phases];
    const begin = Math.floor(i / phases) * step - reach;
    let sum = 0;
    for (let k = Math.max(-begin, 0); k < taps && begin + k < samples.length; k++) {
      sum += (kernel?.[k] ?? 0) * (samples[begin + k] ?? 0);
    }
    out[i] = sum;
  }
  return out;
}

function kernelAt(t: number): number {
  if (Math.abs(t) >= CROSSINGS) return 0;
  const window = Math.cos((t * Math.PI) / CROSSINGS / 2) ** 2;
  return t === 0 ? window : (Math.sin(t * Math.PI) / (t * Math.PI)) * window;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
