/** Seconds that loudness is measured over, and those that a place to cut at lies in. */
const FRAME_SECONDS = 0.02;
const PAUSE_SECONDS = 0.2;
/** A window is cut at its quietest place behind this share of it. */
const EARLIEST_CUT = 0.5;
/** The loudest frame of silence; samples reach from -1 to 1. */
const SILENCE = 1e-4;

/**
 * Where the window ends that begins at a sample: with the recording, or in the middle of the quietest fifth of a second of what may be
 * its end, the last such place. `most` is the longest window in samples.
 */
export function windowEnd(
  samples: Float32Array,
  from: number,
  { most, sampleRate }: { readonly most: number; readonly sampleRate: number },
): number {
  if (samples.length - from <= most) return samples.length;
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  const begin = from + Math.floor(most * EARLIEST_CUT);
  const count = Math.floor((from + most - begin) / frame);
  const span = Math.min(Math.round(PAUSE_SECONDS / FRAME_SECONDS), count);
  if (span === 0) return from + most;
  const energies = Array.from({ length: count }, (_, i) =>
    energyOf(samples, begin + i * frame, frame),
  );
  let quietest = Infinity;
  let cut = from + most;
  for (let i = 0; i + span <= count; i++) {
    const sum = energies.slice(i, i + span).reduce((a, b) => a + b, 0);
    if (sum > quietest) continue;
    quietest = sum;
    cut = begin + Math.round((i + span / 2) * frame);
  }
  return cut;
}

/** Returns true if no frame of a recording is loud enough to be heard. */
export function isSilent(samples: Float32Array, sampleRate: number): boolean {
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  for (let at = 0; at < samples.length; at += frame) {
    if (energyOf(samples, at, frame) > frame * SILENCE ** 2) return false;
  }
  return true;
}

function energyOf(samples: Float32Array, from: number, count: number): number {
  let sum = 0;
  for (let i = from; i < Math.min(from + count, samples.length); i++) sum += (samples[i] ?? 0) ** 2;
  return sum;
}
