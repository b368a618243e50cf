import type { Samples } from '../../tasks/index.ts';

const SAMPLE_RATE = 16_000;

/** Resonances of vowels in Hz (after Peterson and Barney 1952, men), and how long each syllable is, in seconds. */
const SYLLABLES: readonly { readonly formants: readonly number[]; readonly seconds: number }[] = [
  { formants: [730, 1090, 2440], seconds: 0.24 },
  { formants: [270, 2290, 3010], seconds: 0.2 },
  { formants: [570, 840, 2410], seconds: 0.22 },
  { formants: [530, 1840, 2480], seconds: 0.2 },
  { formants: [300, 870, 2240], seconds: 0.26 },
];
const BANDWIDTHS = [80, 100, 140];
/** Between syllables, with some noise as of an s. */
const GAP_SECONDS = 0.05;

/** Two phrases of a synthetic voice with a pause between, and silence around them: pulses through three resonances. */
export function synthesizedSound(): Samples {
  const phrase = SYLLABLES.flatMap((syllable, i) => [voiced(syllable, i), hiss()]);
  const rest = (seconds: number): Float32Array => new Float32Array(seconds * SAMPLE_RATE);
  const parts = [rest(1), ...phrase, rest(1.2), ...phrase.toReversed(), rest(1)];
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { samples, sampleRate: SAMPLE_RATE };
}

function voiced({ formants, seconds }: (typeof SYLLABLES)[number], place: number): Float32Array {
  const count = Math.round(seconds * SAMPLE_RATE);
  let sound: Float32Array = new Float32Array(count);
  let phase = 0;
  for (let i = 0; i < count; i++) {
    // The pitch falls along a phrase, and trembles.
    const pitch =
      135 - 6 * place - (12 * i) / count + 3 * Math.sin((2 * Math.PI * 5 * i) / SAMPLE_RATE);
    phase += pitch / SAMPLE_RATE;
    if (phase >= 1) {
      phase -= 1;
      sound[i] = 1;
    }
  }
  for (const [k, frequency] of formants.entries())
    sound = resonate(sound, frequency, BANDWIDTHS[k] ?? 100);
  const most = sound.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-9);
  return sound.map((value, i) => (0.5 * value * Math.sin((Math.PI * i) / count) ** 0.5) / most);
}

/** A digital resonator of two poles (Klatt 1980). */
function resonate(input: Float32Array, frequency: number, bandwidth: number): Float32Array {
  const radius = Math.exp((-Math.PI * bandwidth) / SAMPLE_RATE);
  const b = 2 * radius * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
  const c = -(radius ** 2);
  let [one, two] = [0, 0];
  return input.map((value) => {
    const out = (1 - b - c) * value + b * one + c * two;
    two = one;
    one = out;
    return out;
  });
}

function hiss(): Float32Array {
  let state = 1;
  let last = 0;
  return Float32Array.from({ length: GAP_SECONDS * SAMPLE_RATE }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const value = state / 2 ** 32 - 0.5;
    const out = 0.08 * (value - last);
    last = value;
    return out;
  });
}
