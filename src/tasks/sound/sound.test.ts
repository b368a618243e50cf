import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { voiceActivity } from '../index.ts';
import { resample } from './resample.ts';
import { readSound, type Sound } from './sound.ts';
import { padded, SegmentFinder } from './speech-segments.ts';

const sine = (count: number, rate: number, hertz: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate));

describe('another rate', () => {
  test.each([
    [44_100, 16_000],
    [48_000, 16_000],
    [8000, 16_000],
  ])('a tone of 440 Hz at %d is one at %d', (from, to) => {
    const got = resample(sine(from / 10, from, 440), from, to);
    const expected = sine(to / 10, to, 440);
    expect(got.length).toBe(expected.length);
    // The filter sees nothing beyond the ends.
    const inside = [...got.keys()].slice(100, -100);
    const error = inside.map((i) => Math.abs((got[i] ?? 0) - (expected[i] ?? 0)));
    expect(Math.max(...error)).toBeLessThan(2e-3);
  });

  test('tones above half of the rate are gone', () => {
    const got = resample(sine(4800, 48_000, 15_000), 48_000, 16_000).subarray(100, -100);
    expect(Math.max(...got)).toBeLessThan(1e-3);
  });

  test('rates that are no whole numbers are refused', () => {
    expect(() => resample(new Float32Array(3), 44.1, 16)).toThrow(
      'resample: got rates of 44.1 and 16, expected whole numbers above 0.',
    );
  });
});

test('sounds that are none are refused', async () => {
  await expect(readSound({ samples: new Float32Array(3), sampleRate: 0 }, 16_000)).rejects.toThrow(
    'sound: got a sample rate of 0, expected a number above 0.',
  );
  await expect(readSound([1, 2] as unknown as Sound, 16_000)).rejects.toThrow(
    'sound: got [1,2], expected { samples: Float32Array, sampleRate }, an AudioBuffer or a Blob.',
  );
  const whole = { samples: new Int16Array(3), sampleRate: 16_000 } as unknown as Sound;
  await expect(readSound(whole, 16_000)).rejects.toThrow(
    'sound, samples: got an Int16Array, expected { samples: Float32Array, sampleRate }',
  );
  for (const level of [9000, Number.NaN]) {
    const samples = Float32Array.of(0, 0.5, level);
    await expect(readSound({ samples, sampleRate: 16_000 }, 16_000)).rejects.toThrow(
      `sound, sample 2: got ${level}, expected numbers from -1 to 1. Divide samples of 16 bits by 32768.`,
    );
  }
  await expect(readSound(new Blob(['x']), 16_000)).rejects.toThrow('nothing here decodes files');
});

test('channels of an AudioBuffer are averaged', async () => {
  const channels = [Float32Array.of(1, 0), Float32Array.of(0, 0.5)];
  const buffer = {
    length: 2,
    numberOfChannels: 2,
    sampleRate: 16_000,
    getChannelData: (c: number) => channels[c],
  } as AudioBuffer;
  expect(Array.from(await readSound(buffer, 16_000))).toEqual([0.5, 0.25]);
});

test('speech ends with a pause that is long enough', () => {
  const options = { threshold: 0.5, leastSpeechMs: 60, leastSilenceMs: 40, padMs: 30 };
  const finder = new SegmentFinder(options, 20);
  const likelihoods = [0, 0.9, 0.9, 0.1, 0.9, 0.4, 0.4, 0.4, 0.1, 0.1, 0.1, 0.9, 0, 0, 0, 0.9];
  const ended = likelihoods.flatMap((likelihood) => {
    const stretch = finder.push(likelihood);
    return stretch === undefined ? [] : [stretch];
  });
  // The second stretch is too short; 0.4 does not end one.
  expect(ended).toEqual([[20, 160]]);
  expect(finder.isSpeech).toBe(true);
  expect(finder.end()).toBeUndefined();
});

test('padding of neighbours meets in the middle', () => {
  const stretches = [
    [10, 100],
    [120, 300],
  ] as const;
  expect(padded(stretches, { padMs: 30, endMs: 310 })).toEqual([
    { start: 0, end: 0.11 },
    { start: 0.11, end: 0.31 },
  ]);
});

/** The likelihood is the mean of the squares of all samples that it has heard: of this window, and half of what was before. */
const LOUDNESS = writeOnnxModel({
  nodes: [
    { op: 'Mul', inputs: ['input', 'input'], outputs: ['squares'] },
    { op: 'ReduceMean', inputs: ['squares'], outputs: ['loud'], attributes: { axes: [1] } },
    {
      op: 'ReduceMax',
      inputs: ['state'],
      outputs: ['before'],
      attributes: { axes: [0, 2], keepdims: 0 },
    },
    { op: 'Mul', inputs: ['before', 'half'], outputs: ['faded'] },
    { op: 'Add', inputs: ['loud', 'faded'], outputs: ['output'] },
    { op: 'Cast', inputs: ['sr'], outputs: ['rate'], attributes: { to: 1 } },
    { op: 'Mul', inputs: ['rate', 'zero'], outputs: ['nothing'] },
    { op: 'Add', inputs: ['output', 'nothing'], outputs: ['all'] },
    { op: 'Mul', inputs: ['state', 'zero'], outputs: ['blank'] },
    { op: 'Add', inputs: ['blank', 'all'], outputs: ['stateN'] },
  ],
  opset: 13,
  inputs: [
    { name: 'input', dtype: 'float32', shape: [1, 'samples'] },
    { name: 'state', dtype: 'float32', shape: [2, 1, 128] },
    { name: 'sr', dtype: 'int64', shape: [] },
  ],
  outputs: ['output', 'stateN'],
  initializers: {
    half: HostTensor.from('float32', [1], [0.5]),
    zero: HostTensor.from('float32', [], [0]),
  },
});

/** Silence, a tone of one second from 0.512 s, silence. */
function toneInSilence(): Float32Array {
  const samples = new Float32Array(16_000 * 2);
  samples.set(sine(16_000, 16_000, 1000), 512 * 16);
  return samples;
}

describe.each(['host', 'wasm'] as const)('a model of silero’s shape on %s', (device) => {
  test('finds the stretch, whole and in pieces', async () => {
    await using heard = await voiceActivity(LOUDNESS, { device });
    const samples = toneInSilence();
    const found = await heard.detect({ samples, sampleRate: 16_000 }, { threshold: 0.6, padMs: 0 });
    expect(found).toHaveLength(1);
    // It remembers the window before, of which a half counts.
    expect(found[0]?.start).toBeCloseTo(0.544, 9);
    expect(found[0]?.end).toBeGreaterThan(1.51);
    expect(found[0]?.end).toBeLessThan(1.6);

    await using stream = heard.stream({ threshold: 0.6 });
    const windows = [];
    for (let at = 0; at < samples.length; at += 1000) {
      windows.push(...(await stream.push(samples.subarray(at, at + 1000))));
    }
    const whole = await heard.likelihoods({ samples, sampleRate: 16_000 });
    expect(windows).toHaveLength(62);
    expect(windows.map(({ likelihood }) => likelihood)).toEqual(Array.from(whole).slice(0, 62));
    expect(windows.flatMap(({ ended }) => ended ?? [])).toEqual(found);
  });
});

test('another model is refused by its inputs', async () => {
  const model = writeOnnxModel({
    nodes: [{ op: 'Neg', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
    outputs: ['y'],
  });
  await expect(voiceActivity(model, { device: 'host' })).rejects.toThrow(
    'the model: got inputs x, expected input, sr and state, or input, sr, h and c, as silero-vad has them.',
  );
  await expect(voiceActivity(model, { sampleRate: 44_100 as 16_000 })).rejects.toThrow(
    'voiceActivity: got sampleRate 44100, expected 8000 or 16000.',
  );
});
