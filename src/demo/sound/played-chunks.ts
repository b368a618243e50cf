import type { Samples } from '../../tasks/index.ts';

/** A window of the model at 16,000 samples a second. */
const CHUNK = 512;

/** A recording, as fast as it would be played. Rejects with the signal's reason. */
export async function* playedChunks(
  { samples, sampleRate }: Samples,
  signal: AbortSignal,
): AsyncGenerator<Float32Array> {
  const begin = performance.now();
  for (let at = 0; at + CHUNK <= samples.length; at += CHUNK) {
    const dueMs = begin + (1000 * at) / sampleRate - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    signal.throwIfAborted();
    yield samples.subarray(at, at + CHUNK);
  }
}
