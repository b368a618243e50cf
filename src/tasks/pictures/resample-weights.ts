import type { AxisWeights } from '../../core/pictures/picture-steps.ts';
import { WEIGHT_BITS } from '../../core/pictures/resample.ts';

/** How a resized picture's pixels are made of the picture's. */
export type Resampling = 'nearest' | 'box' | 'bilinear' | 'hamming' | 'bicubic' | 'lanczos';

interface Filter {
  /** Beyond this distance it is 0. */
  readonly support: number;
  at(distance: number): number;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI));

/** The cubic convolution of Keys (1981) with a = -0.5. */
function cubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

const FILTERS: Readonly<Record<Exclude<Resampling, 'nearest'>, Filter>> = {
  box: { support: 0.5, at: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  bilinear: { support: 1, at: (x) => Math.max(1 - Math.abs(x), 0) },
  hamming: {
    support: 1,
    at: (x) => (Math.abs(x) >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * Math.cos(x * Math.PI))),
  },
  bicubic: { support: 2, at: cubic },
  lanczos: { support: 3, at: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

/**
 * Weights along one axis, with the filter as wide as `from / to` where the picture becomes smaller, so that no pixel is left out:
 * those of Pillow's `Image.resize`, rounded as it rounds them for 8 bits (Resample.c, `precompute_coeffs`).
 */
export function resampleWeights(from: number, to: number, resampling: Resampling): AxisWeights {
  const scale = from / to;
  const first = new Int32Array(to);
  // A side that stays as it is has no filter.
  if (resampling === 'nearest' || from === to) {
    for (let i = 0; i < to; i++) first[i] = Math.floor((i + 0.5) * scale);
    return { first, taps: 1, weights: new Int32Array(to).fill(2 ** WEIGHT_BITS) };
  }
  const filter = FILTERS[resampling];
  const width = Math.max(scale, 1);
  const reach = filter.support * width;
  const taps = Math.ceil(reach) * 2 + 1;
  const weights = new Int32Array(to * taps);
  const exact = new Float64Array(taps);
  for (let i = 0; i < to; i++) {
    const center = (i + 0.5) * scale;
    const begin = Math.max(Math.trunc(center - reach + 0.5), 0);
    const count = Math.min(Math.trunc(center + reach + 0.5), from) - begin;
    let sum = 0;
    for (let k = 0; k < count; k++) {
      exact[k] = filter.at((begin + k - center + 0.5) / width);
      sum += exact[k] ?? 0;
    }
    first[i] = begin;
    for (let k = 0; k < count; k++) {
      const weight = ((exact[k] ?? 0) / sum) * 2 ** WEIGHT_BITS;
      weights[i * taps + k] = Math.trunc(weight + (weight < 0 ? -0.5 : 0.5));
    }
  }
  return { first, taps, weights };
}
