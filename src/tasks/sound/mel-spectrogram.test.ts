import { describe, expect, test } from 'vitest';
import { type MelOptions, melSpectrogram } from '../index.ts';

/** Chirp, tone and overtone: one second at 16,000. */
const SOUND = Float32Array.from(
  { length: 16_000 },
  (_, i) => 0.4 * Math.sin((i * i) / 9000) + 0.2 * Math.sin(i * 0.9) + 0.05 * Math.cos(i * 2.7),
);

const at = ({ data, frames }: ReturnType<typeof melSpectrogram>, band: number, frame: number) =>
  data[band * frames + frame] ?? Number.NaN;

describe('numbers are those of @huggingface/transformers 4.3.1', () => {
  test('of WhisperFeatureExtractor, before it limits and scales them', () => {
    const padded = new Float32Array(480_000);
    padded.set(SOUND);
    const mel = melSpectrogram(padded, { frames: 3000 });
    expect([mel.bands, mel.frames, mel.data.length]).toEqual([80, 3000, 240_000]);
    const most = mel.data.reduce((a, b) => Math.max(a, b));
    const scaled = (band: number, frame: number): number =>
      (Math.max(at(mel, band, frame), most - 8) + 4) / 4;
    const expected: readonly (readonly [number, number, number])[] = [
      [0, 0, 0.9334576725959778],
      [0, 1, 1.2672885656356812],
      [3, 20, -0.6162742972373962],
      [60, 99, -0.17807888984680176],
      [79, 98, -0.4039551019668579],
      [79, 101, 0.058259546756744385],
      [30, 2999, -0.6162742972373962],
    ];
    for (const [band, frame, value] of expected) {
      expect(Math.abs(scaled(band, frame) - value)).toBeLessThan(3e-7);
    }
  });

  test('of spectrogram with the scale of HTK, Hamming windows and zeros behind frames', () => {
    const mel = melSpectrogram(SOUND, {
      fftLength: 512,
      window: 'hamming',
      center: false,
      bands: 40,
      lowest: 20,
      highest: 7600,
      scale: 'htk',
      norm: 'none',
      log: 'ln',
    });
    expect([mel.bands, mel.frames]).toEqual([40, 98]);
    const expected: readonly (readonly [number, number, number])[] = [
      [0, 0, 6.698922634124756],
      [0, 5, -3.1413216590881348],
      [7, 20, -5.273133277893066],
      [20, 50, -4.572234630584717],
      [39, 97, 8.018609046936035],
      [30, 60, -4.066186904907227],
    ];
    for (const [band, frame, value] of expected) {
      expect(Math.abs(at(mel, band, frame) - value)).toBeLessThan(3e-6);
    }
  });
});

/** The energy of a band, computed from the formulas, bin by bin. */
function reference(frame: readonly number[], band: number, options: MelOptions): number {
  const { sampleRate = 16_000, bands = 80, scale = 'slaney', norm = 'slaney', power = 2 } = options;
  const { lowest = 0, highest = sampleRate / 2, fftLength = frame.length } = options;
  const toMel = (f: number): number =>
    scale === 'htk'
      ? 2595 * Math.log10(1 + f / 700)
      : f < 1000
        ? (3 * f) / 200
        : 15 + (27 * Math.log(f / 1000)) / Math.log(6.4);
  const corner = (i: number): number => {
    // Found by halving, so that nothing is inverted by hand.
    const wanted = toMel(lowest) + ((toMel(highest) - toMel(lowest)) * i) / (bands + 1);
    let [low, high] = [0, sampleRate];
    for (let step = 0; step < 100; step++) {
      const middle = (low + high) / 2;
      if (toMel(middle) < wanted) low = middle;
      else high = middle;
    }
    return low;
  };
  const [left, peak, right] = [corner(band), corner(band + 1), corner(band + 2)];
  let sum = 0;
  for (let k = 0; k <= fftLength / 2; k++) {
    const hertz = (k * sampleRate) / fftLength;
    const rise = (hertz - left) / (peak - left);
    const weight = Math.max(0, Math.min(rise, (right - hertz) / (right - peak)));
    let [real, imaginary] = [0, 0];
    for (const [i, value] of frame.entries()) {
      real += value * Math.cos((2 * Math.PI * k * i) / fftLength);
      imaginary -= value * Math.sin((2 * Math.PI * k * i) / fftLength);
    }
    sum +=
      (norm === 'slaney' ? 2 / (right - left) : 1) * weight * Math.hypot(real, imaginary) ** power;
  }
  return Math.max(sum, 1e-10);
}

test.each<MelOptions>([
  { frameLength: 100, bands: 8 },
  { frameLength: 100, fftLength: 128, bands: 8, scale: 'htk', power: 1 },
  { frameLength: 91, bands: 5, norm: 'none', lowest: 300, highest: 3000, sampleRate: 8000 },
  { frameLength: 97, bands: 6, window: 'hamming', scale: 'htk', norm: 'none' },
  { frameLength: 60, fftLength: 75, bands: 6, window: 'none' },
])('lengths of any factors: %o', (given) => {
  const options = { ...given, center: false, hopLength: 37, log: 'none' } as const;
  const { frameLength = 0, window = 'hann' } = options;
  const mel = melSpectrogram(SOUND.subarray(0, 500), options);
  expect(mel.frames).toBe(1 + Math.floor((500 - frameLength) / 37));
  for (const frame of [0, 4, mel.frames - 1]) {
    const samples = Array.from({ length: frameLength }, (_, i) => {
      const turn = Math.cos((2 * Math.PI * i) / frameLength);
      const factor =
        window === 'none' ? 1 : window === 'hann' ? 0.5 - 0.5 * turn : 0.54 - 0.46 * turn;
      return (SOUND[frame * 37 + i] ?? 0) * factor;
    });
    for (let band = 0; band < mel.bands; band++) {
      const expected = reference(samples, band, options);
      expect(Math.abs(at(mel, band, frame) - expected)).toBeLessThan(1e-6 * expected + 1e-9);
    }
  }
});

test('ends are mirrored', () => {
  const tone = SOUND.subarray(0, 800);
  const mirrored = new Float32Array(1200);
  for (let i = 0; i < 1200; i++) {
    const from = i - 200;
    mirrored[i] = tone[from < 0 ? -from : from < 800 ? from : 2 * 799 - from] ?? 0;
  }
  const whole = melSpectrogram(mirrored, { center: false });
  expect(melSpectrogram(tone)).toEqual(whole);
  expect(whole.frames).toBe(6);
});

test('what is wrong is said', () => {
  expect(() => melSpectrogram(new Float32Array(200))).toThrow(
    'melSpectrogram: got 200 samples, expected at least 201, for frames of 400.',
  );
  expect(() => melSpectrogram(SOUND, { fftLength: 256 })).toThrow(
    'melSpectrogram: got fftLength 256, frequencies of 0 to 8000 Hz, expected at least 400, and rising ones up to 8000 Hz.',
  );
  expect(() => melSpectrogram(SOUND, { scale: 'bark' as 'htk' })).toThrow(
    'melSpectrogram: got scale "bark", expected "htk" or "slaney".',
  );
});
