import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { wakeWord, type WakeWordSources } from '../index.ts';

const RATE = 16_000;
const random = seededRandom(5);
const numbers = (count: number, scale: number): Float32Array =>
  Float32Array.from({ length: count }, () => Math.fround((random() - 0.5) * scale));
const FILTERS = numbers(32 * 512, 0.002);
const EMBEDDING = numbers(2432 * 96, 0.02);
const WORD = numbers(16 * 96, 0.5);

/** Frames of 512 samples, one each 160, of 32 numbers: as many as openWakeWord's model gives. */
const MEL = writeOnnxModel({
  nodes: [
    { op: 'Unsqueeze', inputs: ['input', 'one'], outputs: ['row'] },
    {
      op: 'Conv',
      inputs: ['row', 'filters'],
      outputs: ['bands'],
      attributes: { kernel_shape: [512], strides: [160] },
    },
    { op: 'Transpose', inputs: ['bands'], outputs: ['frames'], attributes: { perm: [0, 2, 1] } },
    { op: 'Unsqueeze', inputs: ['frames', 'one'], outputs: ['output'] },
  ],
  opset: 13,
  inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
  outputs: ['output'],
  initializers: {
    filters: HostTensor.from('float32', [32, 1, 512], FILTERS),
    one: HostTensor.from('int64', [1], [1n]),
  },
});

const EMBEDDER = writeOnnxModel({
  nodes: [
    { op: 'Flatten', inputs: ['input_1'], outputs: ['flat'] },
    { op: 'MatMul', inputs: ['flat', 'w'], outputs: ['row'] },
    { op: 'Reshape', inputs: ['row', 'shape'], outputs: ['out'] },
  ],
  opset: 13,
  inputs: [{ name: 'input_1', shape: ['batch', 76, 32, 1] }],
  outputs: ['out'],
  initializers: {
    w: HostTensor.from('float32', [2432, 96], EMBEDDING),
    shape: HostTensor.from('int64', [4], [-1n, 1n, 1n, 96n]),
  },
});

const classifier = (count: number, weights: Float32Array): Uint8Array =>
  writeOnnxModel({
    nodes: [
      { op: 'Flatten', inputs: ['x'], outputs: ['flat'] },
      { op: 'MatMul', inputs: ['flat', 'w'], outputs: ['logit'] },
      { op: 'Sigmoid', inputs: ['logit'], outputs: ['y'] },
    ],
    opset: 13,
    inputs: [{ name: 'x', shape: [1, count, 96] }],
    outputs: ['y'],
    initializers: {
      w: HostTensor.from('float32', [count * 96, weights.length / count / 96], weights),
    },
  });

const SOURCES: WakeWordSources = {
  mel: MEL,
  embedding: EMBEDDER,
  words: { long: classifier(16, WORD), short: classifier(4, WORD.subarray(0, 4 * 96)) },
};

/** Two seconds of a tone that comes and goes. */
const SOUND = Float32Array.from({ length: RATE * 2 }, (_, i) => {
  const t = i / RATE;
  return 0.3 * Math.sin(2 * Math.PI * (300 + 200 * t) * t) * Math.abs(Math.sin(3 * t));
});

/** Likelihoods of both words after each window, by the formulas; what is before the sound is silence. */
function expectedScores(sound: Float32Array): { readonly long: number; readonly short: number }[] {
  const windows = Math.ceil(sound.length / 1280);
  // Windows of silence before it fill both memories.
  const before = 40 * 1280;
  const all = new Float64Array(before + windows * 1280);
  all.set(sound, before);
  const frame = (begin: number): number[] =>
    Array.from({ length: 32 }, (_, band) => {
      let sum = 0;
      for (let k = 0; k < 512; k++) {
        sum += (all[begin + k] ?? 0) * 32_768 * (FILTERS[band * 512 + k] ?? 0);
      }
      return sum / 10 + 2;
    });
  const frames: number[][] = [];
  for (let window = 1; window < 40 + windows; window++) {
    for (let f = 0; f < 8; f++) frames.push(frame(window * 1280 - 480 + f * 160));
  }
  const embeddings: number[][] = [];
  for (let end = 80; end <= frames.length; end += 8) {
    const flat = frames.slice(end - 76, end).flat();
    embeddings.push(
      Array.from({ length: 96 }, (_, c) =>
        flat.reduce((sum, value, i) => sum + value * (EMBEDDING[i * 96 + c] ?? 0), 0),
      ),
    );
  }
  const score = (end: number, count: number): number => {
    const logit = embeddings
      .slice(end - count, end)
      .flat()
      .reduce((sum, value, i) => sum + value * (WORD[i] ?? 0), 0);
    return 1 / (1 + Math.exp(-logit));
  };
  return Array.from({ length: windows }, (_, i) => {
    const end = embeddings.length - windows + i + 1;
    return { long: score(end, 16), short: score(end, 4) };
  });
}

test.each(['host', 'wasm'] as const)('scores are those of the formulas, on %s', async (device) => {
  await using listener = await wakeWord(SOURCES, { device });
  const expected = expectedScores(SOUND);
  const spread = expected.map(({ long }) => long);
  expect(Math.max(...spread) - Math.min(...spread)).toBeGreaterThan(0.1);
  const stream = listener.stream({ threshold: 2 });
  expect(stream.scores).toEqual({});
  for (const [i, { long, short }] of expected.entries()) {
    expect(await stream.push(SOUND.subarray(i * 1280, (i + 1) * 1280))).toEqual([]);
    expect(stream.scores['long']).toBeCloseTo(long, 4);
    expect(stream.scores['short']).toBeCloseTo(short, 4);
  }
});

test('a word is heard once in its time, whole and in pieces', async () => {
  await using listener = await wakeWord(SOURCES, { device: 'host' });
  const { long } = SOURCES.words;
  expect(long).toBeDefined();
  const scores = expectedScores(SOUND).map((score) => score.long);
  const threshold = [...scores].toSorted((a, b) => a - b)[Math.floor(scores.length / 2)] ?? 0;
  const expected: number[] = [];
  for (const [i, score] of scores.entries()) {
    const time = (i + 1) * 0.08;
    if (score >= threshold - 1e-6 && time - (expected.at(-1) ?? -9) >= 0.3) expected.push(time);
  }
  expect(expected.length).toBeGreaterThan(1);
  const options = { threshold: threshold - 1e-6, refractoryMs: 300 };
  const sound = { samples: SOUND, sampleRate: RATE };
  const found = (await listener.detect(sound, options)).filter(({ word }) => word === 'long');
  expect(found.map(({ time }) => time)).toEqual(expected);
  const stream = listener.stream(options);
  const pieces = [];
  for (let at = 0; at < SOUND.length; at += 1000) {
    pieces.push(...(await stream.push(SOUND.subarray(at, at + 1000))));
  }
  expect(pieces.filter(({ word }) => word === 'long')).toEqual(found);
  const embeddings = await listener.embed(sound);
  expect(embeddings.map(({ length }) => length)).toEqual(scores.map(() => 96));
});

test('what is wrong is said', async () => {
  await expect(wakeWord({ ...SOURCES, words: {} })).rejects.toThrow(
    'wakeWord: got no words, expected one or more.',
  );
  const two = { ...SOURCES, words: { two: classifier(4, numbers(4 * 96 * 2, 1)) } };
  await expect(wakeWord(two, { device: 'host' })).rejects.toThrow(
    'the model of "two": got x [1, 4, 96], y [1, 2], expected an input [1, embeddings, 96] and one likelihood.',
  );
  await using listener = await wakeWord({ ...SOURCES, mel: EMBEDDER }, { device: 'host' });
  await expect(listener.stream().push(SOUND)).rejects.toThrow('input_1');
  const whole = SOUND.map((sample) => sample * 32_768);
  await expect(listener.stream().push(whole)).rejects.toThrow(
    'expected numbers from -1 to 1. Divide samples of 16 bits by 32768.',
  );
  await using good = await wakeWord(SOURCES, { device: 'host' });
  const signal = AbortSignal.abort(new Error('enough'));
  const sound = { samples: SOUND, sampleRate: RATE };
  await expect(good.detect(sound, { signal })).rejects.toThrow('enough');
  expect(() => good.stream({ threshold: 0 })).toThrow('got threshold 0, expected a number above 0');
});
