import { describe, expect, test } from 'vitest';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { imageClassifier, type ImageClassifierOptions } from './index.ts';
import { COLOURS } from './testing/colours-model.ts';
import { drawnPicture } from './testing/test-pictures.ts';

const LABELS = ['red', 'green', 'blue'];
const colour = (...rgb: [number, number, number]) =>
  drawnPicture(8, 6, [{ left: 0, top: 0, width: 8, height: 6, colour: rgb }]);

function folder(files: Readonly<Record<string, unknown>>) {
  return async (name: string): Promise<Uint8Array | undefined> => {
    if (name === 'onnx/model.onnx') return COLOURS;
    const content = files[name];
    return content === undefined ? undefined : new TextEncoder().encode(JSON.stringify(content));
  };
}

describe.each(['host', 'wasm'] as const)('a classifier on %s', (device) => {
  test('reads its folder and names the likeliest classes', async () => {
    const read = folder({
      'config.json': { id2label: { 0: 'red', 1: 'green', 2: 'blue' } },
      'preprocessor_config.json': { do_rescale: true, do_normalize: false },
    });
    await using classifier = await imageClassifier(read, { device });
    const found = await classifier.classify(colour(0, 255, 51), { topK: 2 });
    expect(found.map(({ label }) => label)).toEqual(['green', 'blue']);
    expect(found[0]?.score).toBeCloseTo(1 / (1 + Math.exp(-8) + Math.exp(-10)), 5);
    const all = await classifier.classifyAll([colour(255, 0, 0), colour(0, 0, 255)]);
    expect(all.map(([first]) => first?.label)).toEqual(['red', 'blue']);
  });
});

const open = (options: ImageClassifierOptions) =>
  imageClassifier(COLOURS, { device: 'host', ...options });

test.each([false, true])(
  'a model of one channel gets grey, with a file of its folder: %s',
  async (hasFile) => {
    const model = writeOnnxModel({
      nodes: [
        { op: 'GlobalAveragePool', inputs: ['x'], outputs: ['mean'] },
        { op: 'Neg', inputs: ['mean'], outputs: ['minus'] },
        { op: 'Concat', inputs: ['mean', 'minus'], outputs: ['y'], attributes: { axis: 1 } },
      ],
      inputs: [{ name: 'x', dtype: 'float32', shape: [1, 1, 4, 4] }],
      outputs: ['y'],
    });
    const config = new TextEncoder().encode('{ "do_flip_channel_order": true }');
    const files: Record<string, Uint8Array | undefined> = {
      'onnx/model.onnx': model,
      'preprocessor_config.json': hasFile ? config : undefined,
    };
    await using classifier = await imageClassifier(async (name) => files[name], {
      device: 'host',
      activation: 'none',
      labels: ['light', 'dark'],
    });
    const [first] = await classifier.classify(colour(0, 255, 0));
    // The share of green in luma.
    expect(first).toMatchObject({ label: 'light', score: expect.closeTo(0.587, 2) });
  },
);

test('options go before files, and scores may stay as they are', async () => {
  const options = { labels: LABELS, activation: 'none', pictures: { scale: 1 } } as const;
  await using classifier = await open(options);
  const [first] = await classifier.classify(colour(0, 0, 20));
  expect(first).toEqual({ label: 'blue', index: 2, score: 200 });
});

/** A network as exporters write those that end with a pool and softmax: (1, 3, 1, 1). */
const POOLED = writeOnnxModel({
  nodes: [
    { op: 'GlobalAveragePool', inputs: ['pixel_values'], outputs: ['means'] },
    { op: 'Softmax', inputs: ['means'], outputs: ['shares'], attributes: { axis: 1 } },
  ],
  inputs: [{ name: 'pixel_values', dtype: 'float32', shape: [1, 3, 4, 4] }],
  outputs: ['shares'],
});

test('a list of classes may have further dimensions of 1, and softmax is computed once', async () => {
  await using classifier = await imageClassifier(POOLED, { device: 'host', labels: LABELS });
  const [first, second] = await classifier.classify(colour(0, 255, 0));
  expect(first).toMatchObject({ label: 'green', index: 1 });
  expect(first?.score).toBeCloseTo(Math.E / (Math.E + 2), 6);
  expect(second?.score).toBeCloseTo(1 / (Math.E + 2), 6);

  const options = { device: 'host', activation: 'softmax' } as const;
  await using again = await imageClassifier(POOLED, options);
  const [flat] = await again.classify(colour(0, 255, 0));
  const share = Math.E / (Math.E + 2);
  const rest = (1 - share) / 2;
  expect(flat?.score).toBeCloseTo(1 / (1 + 2 * Math.exp(rest - share)), 6);
});

test('a model that says something of each place is refused', async () => {
  const model = writeOnnxModel({
    nodes: [{ op: 'Neg', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, 4, 4] }],
    outputs: ['y'],
  });
  await expect(imageClassifier(model, { device: 'host' })).rejects.toThrow(
    'the model: got outputs y: float32 [1, 3, 4, 4], expected one with numbers of float32 or float16 for classes, [N, classes].',
  );
});

test('names that are too few are refused when the model is loaded', async () => {
  await expect(open({ labels: ['red'] })).rejects.toThrow('labels: got 1 names, expected 3');
});

test('unknown options are refused by name', async () => {
  await expect(open({ label: LABELS } as ImageClassifierOptions)).rejects.toThrow(
    'got an unknown option "label"',
  );
  await using classifier = await open({});
  await expect(classifier.classify(colour(1, 2, 3), { topK: 0 })).rejects.toThrow(
    'classify: got topK 0, expected an integer from 1 up.',
  );
});

test('a model without pictures is refused with its inputs', async () => {
  const model = writeOnnxModel({
    nodes: [{ op: 'Neg', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 3] }],
    outputs: ['y'],
  });
  await expect(imageClassifier(model, { device: 'host' })).rejects.toThrow(
    'the model: got x: float32 [n, 3], expected an input of float32, float16 or uint8 [N, C, H, W] or [N, H, W, C], C being 1 or 3.',
  );
});

test('a folder without a model, a file without JSON', async () => {
  await expect(imageClassifier(async () => undefined)).rejects.toThrow(
    'folder of the model: got none of the files that a model may be in, expected one of model.weft,',
  );
  const read = async (name: string) =>
    name.endsWith('.onnx') ? COLOURS : new TextEncoder().encode('{');
  await expect(imageClassifier(read)).rejects.toThrow('config.json: got no JSON');
});

test('a signal ends a load and a call', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(open({ signal })).rejects.toThrow('enough');
  await using classifier = await open({});
  await expect(classifier.classify(colour(1, 2, 3), { signal })).rejects.toThrow('enough');
});
