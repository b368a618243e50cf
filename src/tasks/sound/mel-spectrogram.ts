import { checkOptions, oneOf, type OptionKind, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';

/**
 * The discrete Fourier transform of real numbers, of any length: by its prime factors (Cooley and Tukey 1965), so a length of small
 * factors, such as 400 or 512, is fast.
 */
class FourierTransform {
  readonly length: number;
  readonly #factors: readonly number[];
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #partReal: Float64Array;
  readonly #partImaginary: Float64Array;

  constructor(length: number) {
    this.length = length;
    this.#factors = primeFactors(length);
    const angle = (i: number): number => (-2 * Math.PI * i) / length;
    this.#cos = Float64Array.from({ length }, (_, i) => Math.cos(angle(i)));
    this.#sin = Float64Array.from({ length }, (_, i) => Math.sin(angle(i)));
    this.#real = new Float64Array(length);
    this.#imaginary = new Float64Array(length);
    const most = Math.max(...this.#factors, 1);
    this.#partReal = new Float64Array(most);
    this.#partImaginary = new Float64Array(most);
  }

  /** The squared magnitudes of frequencies 0 to half of the length, into `power`. */
  power(samples: Float64Array, power: Float64Array): void {
    this.#transform(samples, { from: 0, stride: 1, to: 0, depth: 0, count: this.length });
    for (let k = 0; k < power.length; k++) {
      power[k] = (this.#real[k] ?? 0) ** 2 + (this.#imaginary[k] ?? 0) ** 2;
    }
  }

  /** Transforms every `stride`-th sample into the part of the result from `to` on. */
  #transform(samples: Float64Array, { from, stride, to, depth, count }: Part): void {
    const [real, imaginary] = [this.#real, this.#imaginary];
    if (count === 1) {
      real[to] = samples[from] ?? 0;
      imaginary[to] = 0;
      return;
    }
    const factor = this.#factors[depth] ?? count;
    const inner = count / factor;
    for (let j = 0; j < factor; j++) {
      this.#transform(samples, {
        from: from + j * stride,
        stride: stride * factor,
        to: to + j * inner,
        depth: depth + 1,
        count: inner,
      });
    }
    for (let k = 0; k < inner; k++) this.#join(to + k, { factor, inner, k, stride });
  }

  /** Makes the results `k`, `k + inner`, … of those of the parts. */
  #join(at: number, { factor, inner, k, stride }: Join): void {
    const [real, imaginary, cos, sin] = [this.#real, this.#imaginary, this.#cos, this.#sin];
    const [partReal, partImaginary] = [this.#partReal, this.#partImaginary];
    for (let j = 0; j < factor; j++) {
      partReal[j] = real[at + j * inner] ?? 0;
      partImaginary[j] = imaginary[at + j * inner] ?? 0;
    }
    for (let q = 0; q < factor; q++) {
      let sumReal = 0;
      let sumImaginary = 0;
      for (let j = 0; j < factor; j++) {
        const turn = (j * (k + q * inner) * stride) % this.length;
        const [c, s] = [cos[turn] ?? 0, sin[turn] ?? 0];
        sumReal += (partReal[j] ?? 0) * c - (partImaginary[j] ?? 0) * s;
        sumImaginary += (partReal[j] ?? 0) * s + (partImaginary[j] ?? 0) * c;
      }
      real[at + q * inner] = sumReal;
      imaginary[at + q * inner] = sumImaginary;
    }
  }
}

interface Part {
  readonly from: number;
  readonly stride: number;
  readonly to: number;
  readonly depth: number;
  readonly count: number;
}

interface Join {
  readonly factor: number;
  readonly inner: number;
  readonly k: number;
  readonly stride: number;
}

function primeFactors(value: number): number[] {
  const factors: number[] = [];
  let rest = value;
  for (let factor = 2; rest > 1; factor++) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}

/** How a sound becomes a spectrogram. The defaults are those of Whisper. */
export interface MelOptions {
  /** Samples of a second. Default 16,000. */
  readonly sampleRate?: number | undefined;
  /** Samples of a frame. Default 400. */
  readonly frameLength?: number | undefined;
  /** Samples from a frame to the next one. Default 160. */
  readonly hopLength?: number | undefined;
  /** Samples that are transformed: those of a frame, and zeros behind them. Default `frameLength`. */
  readonly fftLength?: number | undefined;
  /** The window that frames are multiplied by; both are periodic. Default `hann`. */
  readonly window?: 'hann' | 'hamming' | 'none' | undefined;
  /**
   * Centres frames on their places, and mirrors the sound at its ends; else the first frame begins
   * with the sound. Default true.
   */
  readonly center?: boolean | undefined;
  /** Bands of frequency. Default 80. */
  readonly bands?: number | undefined;
  /** The lowest frequency in Hz. Default 0. */
  readonly lowest?: number | undefined;
  /** The highest one. Default: half of the rate. */
  readonly highest?: number | undefined;
  /** Default `slaney`. */
  readonly scale?: MelScale | undefined;
  /** `slaney`, the default: filters have equal areas in Hz. `none`: they have equal heights. */
  readonly norm?: 'slaney' | 'none' | undefined;
  /** The power of the magnitudes: 2, the default, gives energy, 1 amplitude. */
  readonly power?: number | undefined;
  /** Default `log10`; `ln` is the natural logarithm. */
  readonly log?: 'log10' | 'ln' | 'none' | undefined;
  /**
   * The least value: smaller ones are raised to it, before the logarithm if there is one. Default
   * 1e-10.
   */
  readonly floor?: number | undefined;
  /** How many frames there are at most. Default: all, with `center` one for each hop and one more. */
  readonly frames?: number | undefined;
}

/** Energies of bands of frequency over time. */
export interface MelSpectrogram {
  /** (bands, frames), one row for each band. */
  readonly data: Float32Array<ArrayBuffer>;
  /** Bands, the rows of `data`. */
  readonly bands: number;
  /** Frames, the columns of `data`. */
  readonly frames: number;
}

const FROM_0: OptionKind = [
  'a number from 0 up',
  (value) => Number.isFinite(value) && Number(value) >= 0,
];

/**
 * The mel spectrogram of samples, computed in doubles: frames under a window, their spectra, bands of these and a logarithm. It is what
 * `spectrogram` of @huggingface/transformers gives for such options. Throws UsageError for wrong options, and for a sound that is too
 * short to be mirrored or to fill one frame.
 */
export function melSpectrogram(samples: Float32Array, options: MelOptions = {}): MelSpectrogram {
  checkOptions<MelOptions>('melSpectrogram', options, {
    sampleRate: 'positive',
    frameLength: 'count',
    hopLength: 'count',
    fftLength: 'count',
    window: oneOf('hann', 'hamming', 'none'),
    center: 'boolean',
    bands: 'count',
    lowest: FROM_0,
    highest: 'positive',
    scale: oneOf('htk', 'slaney'),
    norm: oneOf('slaney', 'none'),
    power: 'positive',
    log: oneOf('log10', 'ln', 'none'),
    floor: 'positive',
    frames: 'count',
  });
  requireKind('melSpectrogram', 'numbers', ['samples that are', samples]);
  const { sampleRate = 16_000, frameLength = 400, hopLength = 160, center = true } = options;
  const { fftLength = frameLength, bands = 80, lowest = 0, highest = sampleRate / 2 } = options;
  if (fftLength < frameLength || highest <= lowest || highest > sampleRate / 2) {
    const got = `fftLength ${fftLength}, frequencies of ${lowest} to ${highest} Hz`;
    const expected = `at least ${frameLength}, and rising ones up to ${sampleRate / 2} Hz`;
    throw new UsageError({ where: 'melSpectrogram', got, expected });
  }
  const reach = center ? Math.floor(frameLength / 2) : 0;
  const frames = framesOf(samples.length, { frameLength, hopLength, reach, most: options.frames });
  const bins = Math.floor(fftLength / 2) + 1;
  const { scale = 'slaney', norm = 'slaney', power = 2 } = options;
  const isEven = norm === 'slaney';
  const filters = melFilters({ bands, fftLength, sampleRate, lowest, highest, scale, isEven });
  const window = windowOf(options.window ?? 'hann', frameLength);
  const transform = new FourierTransform(fftLength);
  const [frame, spectrum] = [new Float64Array(fftLength), new Float64Array(bins)];
  const data = new Float32Array(bands * frames);
  const level = levelOf(options);
  for (let f = 0; f < frames; f++) {
    const begin = f * hopLength - reach;
    for (let i = 0; i < frameLength; i++) {
      frame[i] = (samples[mirrored(begin + i, samples.length)] ?? 0) * (window[i] ?? 0);
    }
    transform.power(frame, spectrum);
    if (power !== 2)
      for (const [k, value] of spectrum.entries()) spectrum[k] = value ** (power / 2);
    for (const [band, { first, weights }] of filters.entries()) {
      let sum = 0;
      for (let k = 0; k < weights.length; k++)
        sum += (weights[k] ?? 0) * (spectrum[first + k] ?? 0);
      data[band * frames + f] = level(sum);
    }
  }
  return { data, bands, frames };
}

interface FrameOrder {
  readonly frameLength: number;
  readonly hopLength: number;
  /** Mirrored samples at each end. */
  readonly reach: number;
  readonly most: number | undefined;
}

function framesOf(length: number, { frameLength, hopLength, reach, most }: FrameOrder): number {
  const least = reach > 0 ? reach + 1 : frameLength;
  if (length < least) {
    throw new UsageError({
      where: 'melSpectrogram',
      got: `${length} samples`,
      expected: `at least ${least}, for frames of ${frameLength}`,
    });
  }
  const all = 1 + Math.floor((length + 2 * reach - frameLength) / hopLength);
  return Math.min(all, most ?? all);
}

/** The index of a sample beyond an end, which is mirrored without being said twice. */
function mirrored(index: number, length: number): number {
  if (index < 0) return -index;
  return index < length ? index : 2 * (length - 1) - index;
}

function windowOf(name: 'hann' | 'hamming' | 'none', length: number): Float64Array {
  if (name === 'none') return new Float64Array(length).fill(1);
  const base = name === 'hann' ? 0.5 : 0.54;
  const angle = (i: number): number => (2 * Math.PI * i) / length;
  return Float64Array.from({ length }, (_, i) => base - (1 - base) * Math.cos(angle(i)));
}

function levelOf({ log = 'log10', floor = 1e-10 }: MelOptions): (value: number) => number {
  if (log === 'none') return (value) => Math.max(value, floor);
  const logarithm = log === 'ln' ? Math.log : Math.log10;
  return (value) => logarithm(Math.max(value, floor));
}

/**
 * How pitch goes with frequency. `htk`: 2595 log10(1 + f / 700), as O'Shaughnessy (1987) has it. `slaney`: linear up to 1000 Hz, above it
 * 27 steps for a factor of 6.4, as Slaney's Auditory Toolbox has it.
 */
type MelScale = 'htk' | 'slaney';

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
function melFilters(options: MelFilterOptions): readonly MelFilter[] {
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
