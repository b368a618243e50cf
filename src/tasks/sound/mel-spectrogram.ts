import { checkOptions, oneOf, type OptionKind, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { FourierTransform } from './fourier-transform.ts';
import { melFilters, type MelScale } from './mel-filters.ts';

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
