import { describe } from '../../core/check-options.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { requireImport } from '../../core/require-import.ts';

/** Samples of one channel from -1 to 1. */
export interface Samples {
  /** The samples, one after another. */
  readonly samples: Float32Array;
  /** Samples of a second. */
  readonly sampleRate: number;
}

/** A sound for a task: samples, an `AudioBuffer`, or a file that the browser decodes. */
export type Sound = Samples | AudioBuffer | Blob;

/**
 * The samples of a sound at a rate, channels averaged. Rejects with UsageError for a sound without a rate or of another kind, and
 * with UnsupportedError for files where nothing decodes them.
 */
export async function readSound(sound: Sound, sampleRate: number): Promise<Float32Array> {
  const { samples, sampleRate: own } = await decoded(sound, sampleRate);
  if (!(own > 0) || !Number.isFinite(own)) {
    throw new UsageError({
      where: 'sound',
      got: `a sample rate of ${own}`,
      expected: 'a number above 0',
    });
  }
  requireLevels(samples);
  if (own === sampleRate) return samples;
  await requireImport();
  return (await import('./resample.ts')).resample(samples, own, sampleRate);
}

/** Eight times as loud as the loudest: whole numbers of 16 bits go beyond it with the least noise. */
const MOST = 8;

/** Throws UsageError for samples that are no numbers or far from -1 to 1. */
export function requireLevels(samples: Float32Array): void {
  const at = samples.findIndex((sample) => !(Math.abs(sample) <= MOST));
  if (at < 0) return;
  throw new UsageError({
    where: `sound, sample ${at}`,
    got: String(samples[at]),
    expected: 'numbers from -1 to 1',
    remedy: 'Divide samples of 16 bits by 32768.',
  });
}

async function decoded(sound: Sound, sampleRate: number): Promise<Samples> {
  if (typeof Blob !== 'undefined' && sound instanceof Blob) {
    if (typeof OfflineAudioContext === 'undefined') {
      throw new UnsupportedError({
        where: 'sound',
        got: 'a Blob',
        expected: '{ samples, sampleRate }, because nothing here decodes files',
        remedy: 'Decode it in a page, or with a library.',
      });
    }
    const context = new OfflineAudioContext(1, 1, sampleRate);
    return averaged(await context.decodeAudioData(await sound.arrayBuffer()));
  }
  const fields = Object(sound) as Partial<Samples>;
  if (fields.samples instanceof Float32Array) return sound as Samples;
  if ('getChannelData' in fields) return averaged(sound as AudioBuffer);
  throw new UsageError({
    where: fields.samples === undefined ? 'sound' : 'sound, samples',
    got: describe(fields.samples ?? sound),
    expected: '{ samples: Float32Array, sampleRate }, an AudioBuffer or a Blob',
  });
}

function averaged(buffer: AudioBuffer): Samples {
  const samples = new Float32Array(buffer.length);
  for (let c = 0; c < buffer.numberOfChannels; c++) {
    for (const [i, value] of buffer.getChannelData(c).entries()) {
      samples[i] = (samples[i] ?? 0) + value / buffer.numberOfChannels;
    }
  }
  return { samples, sampleRate: buffer.sampleRate };
}
