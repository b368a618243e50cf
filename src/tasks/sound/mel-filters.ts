/**
 * How pitch goes with frequency. `htk`: 2595 log10(1 + f / 700), as O'Shaughnessy (1987) has it. `slaney`: linear up to 1000 Hz, above it
 * 27 steps for a factor of 6.4, as Slaney's Auditory Toolbox has it.
 */
export type MelScale = 'htk' | 'slaney';

/** The band of frequencies that a filter passes, as weights of bins of a spectrum. */
interface MelFilter {
  /** The first bin that counts. */
  readonly first: number;
  readonly weights: Float64Array;
}

/** Bands, scale and normalisation of mel filters, and the transform they are for. */
interface MelFilterOptions {
  readonly bands: number;
  /** Samples that were transformed; bins reach up to half of them. */
  readonly fftLength: number;
  readonly sampleRate: number;
  /** The lower edge of the first band, in Hz. */
  readonly lowest: number;
  readonly highest: number;
  readonly scale: MelScale;
  /**
   * Divides each filter by half of the width of its band in Hz, so that white noise gives even
   * bands.
   */
  readonly isEven: boolean;
}

const KNEE_HZ = 1000;
const HZ_PER_MEL = 200 / 3;
const KNEE = KNEE_HZ / HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function melOf(hertz: number, scale: MelScale): number {
  if (scale === 'htk') return 2595 * Math.log10(1 + hertz / 700);
  return hertz < KNEE_HZ ? hertz / HZ_PER_MEL : KNEE + Math.log(hertz / KNEE_HZ) / LOG_STEP;
}

function hertzOf(mel: number, scale: MelScale): number {
  if (scale === 'htk') return 700 * (10 ** (mel / 2595) - 1);
  return mel < KNEE ? mel * HZ_PER_MEL : KNEE_HZ * Math.exp(LOG_STEP * (mel - KNEE));
}

/** Triangles over the frequencies of the bins, whose corners lie evenly on the scale. */
export function melFilters(options: MelFilterOptions): readonly MelFilter[] {
  const { bands, fftLength, sampleRate, lowest, highest, scale, isEven } = options;
  const from = melOf(lowest, scale);
  const step = (melOf(highest, scale) - from) / (bands + 1);
  const corners = Array.from({ length: bands + 2 }, (_, i) => hertzOf(from + i * step, scale));
  const bins = Math.floor(fftLength / 2) + 1;
  const hertzPerBin = sampleRate / fftLength;
  return Array.from({ length: bands }, (_, band) => {
    const [left = 0, peak = 0, right = 0] = corners.slice(band, band + 3);
    const height = isEven ? 2 / (right - left) : 1;
    const first = Math.min(Math.floor(left / hertzPerBin) + 1, bins);
    const last = Math.min(Math.ceil(right / hertzPerBin) - 1, bins - 1);
    const weights = Float64Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => {
      const hertz = (first + i) * hertzPerBin;
      const rise = (hertz - left) / (peak - left);
      const fall = (right - hertz) / (right - peak);
      return height * Math.max(Math.min(rise, fall), 0);
    });
    return { first, weights };
  });
}
