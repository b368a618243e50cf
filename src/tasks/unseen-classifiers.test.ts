import { describe, expect, test } from 'vitest';
import { numberToFloat16 } from '../core/tensor/float16.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../testing/onnx-writer.ts';
import { imageClassifier, type ImageClassifierOptions } from './index.ts';
import { drawnPicture } from './testing/test-pictures.ts';

const colour = (...rgb: [number, number, number]) =>
  drawnPicture(8, 6, [{ left: 0, top: 0, width: 8, height: 6, colour: rgb }]);
const GREEN = colour(0, 255, 51);

interface ModelOptions {
  readonly dtype?: 'float32' | 'float16' | 'uint8';
  readonly shape?: readonly (number | string)[];
  /** Makes `y` of `means`, which are (N, 3). */
  readonly head?: readonly OnnxNodeSpec[];
  readonly outputs?: readonly string[];
}

const FLOATS = { float32: 1, float16: 10, uint8: 1 } as const;
const logits: OnnxNodeSpec = { op: 'Mul', inputs: ['means', 'ten'], outputs: ['y'] };

/** Ten times the mean of each channel. */
function model({
  dtype = 'float32',
  shape = ['n', 3, 4, 4],
  head = [logits],
  outputs = ['y'],
}: ModelOptions): Uint8Array {
  const isLast = shape[3] === 3;
  const to = FLOATS[dtype];
  return writeOnnxModel({
    nodes: [
      { op: 'Cast', inputs: ['x'], outputs: ['floats'], attributes: { to } },
      {
        op: 'ReduceMean',
        inputs: ['floats'],
        outputs: ['means'],
        attributes: { axes: isLast ? [1, 2] : [2, 3], keepdims: 0 },
      },
      ...head,
    ],
    opset: 13,
    inputs: [{ name: 'x', dtype, shape }],
    outputs,
    initializers: {
      ten:
        to === FLOATS.float16
          ? HostTensor.from('float16', [1], [numberToFloat16(10)])
          : HostTensor.from('float32', [1], [10]),
      axes: HostTensor.from('int64', [2], [2n, 3n]),
      first: HostTensor.from('float32', [1, 3], [1, 0, 0]),
      one: HostTensor.from('int64', [1], [1n]),
    },
  });
}

const open = (parts: ModelOptions, options: ImageClassifierOptions = {}) =>
  imageClassifier(model(parts), { device: 'host', ...options });

const EXPECTED = 1 / (1 + Math.exp(-8) + Math.exp(-10));
const softmax: OnnxNodeSpec[] = [
  { ...logits, outputs: ['logits.0'] },
  { op: 'Softmax', inputs: ['logits.0'], outputs: ['y'], attributes: { axis: 1 } },
];

describe('a classifier of another shape gives the same', () => {
  test.each<[string, ModelOptions, number]>([
    ['channels last', { shape: ['n', 4, 4, 3] }, EXPECTED],
    ['softmax inside', { head: softmax }, EXPECTED],
    ['float16 in and out', { dtype: 'float16' }, EXPECTED],
    [
      'classes before two dimensions of 1',
      {
        head: [
          { ...logits, outputs: ['flat'] },
          { op: 'Unsqueeze', inputs: ['flat', 'axes'], outputs: ['y'] },
        ],
      },
      EXPECTED,
    ],
    ['one picture at a time', { shape: [1, 3, 4, 4] }, EXPECTED],
    ['four pictures at a time', { shape: [4, 3, 4, 4] }, EXPECTED],
  ])('%s', async (_, parts, score) => {
    await using classifier = await open(parts, { labels: ['red', 'green', 'blue'] });
    const [best] = await classifier.classify(GREEN);
    expect(best?.label).toBe('green');
    expect(best?.score).toBeCloseTo(score, 2);
    const many = [0, 1, 2, 3, 4].map((i) => (i === 3 ? colour(255, 0, 0) : GREEN));
    const all = await classifier.classifyAll(many);
    expect(all.map(([first]) => first?.label)).toEqual(['green', 'green', 'green', 'red', 'green']);
  });

  test('bytes in', async () => {
    const head = [{ op: 'Div', inputs: ['means', 'ten'], outputs: ['y'] }];
    await using classifier = await open({ dtype: 'uint8', shape: [1, 4, 4, 3], head });
    expect(classifier.pictures).toMatchObject({ dtype: 'uint8', layout: 'nhwc' });
    const [best] = await classifier.classify(GREEN);
    expect(best).toMatchObject({ index: 1 });
    expect(best?.score).toBeCloseTo(1, 6);
  });
});

describe('what is not certain is refused', () => {
  const two: ModelOptions = {
    head: [logits, { op: 'Neg', inputs: ['means'], outputs: ['features'] }],
    outputs: ['features', 'y'],
  };

  test('several outputs that may be meant, unless one is named', async () => {
    await expect(open(two)).rejects.toThrow(
      'the model: got outputs features: float32 [n, 3], y: float32 [n, 3], expected one with numbers of float32 or float16 for classes, [N, classes]. Name one of them with the option output.',
    );
    await expect(open(two, { output: 'z' })).rejects.toThrow(
      'output: got "z", expected one of features, y.',
    );
    await using classifier = await open(two, { output: 'y' });
    expect((await classifier.classify(GREEN))[0]?.index).toBe(1);
  });

  test('a map of classes', async () => {
    const head = [{ op: 'Identity', inputs: ['floats'], outputs: ['y'] }];
    await expect(open({ head })).rejects.toThrow(
      'got outputs y: float32 [n, 3, 4, 4], expected one',
    );
  });

  test('one number, unless it is said what it is', async () => {
    const head = [
      { ...logits, outputs: ['three'] },
      { op: 'Mul', inputs: ['three', 'first'], outputs: ['red'] },
      {
        op: 'ReduceSum',
        inputs: ['red', 'one'],
        outputs: ['y'],
        attributes: { keepdims: 1 },
      },
    ];
    await using classifier = await open({ head });
    await expect(classifier.classify(GREEN)).rejects.toThrow(
      'the result of the model: got one number for a picture, expected numbers for two classes or more, which softmax compares. Give activation: sigmoid for a number before a sigmoid, none for a likelihood.',
    );
    await using told = await open({ head }, { activation: 'sigmoid' });
    const [only] = await told.classify(colour(255, 0, 0));
    expect(only?.score).toBeCloseTo(1 / (1 + Math.exp(-10)), 6);
  });

  test('any size, unless one is given', async () => {
    const shape = ['n', 3, 'height', 'width'];
    await expect(open({ shape })).rejects.toThrow(
      'the model: got x [n, 3, height, width], pictures of any size, expected a size, in preprocessor_config.json or the option pictures. Give pictures: { size: 224 } or whatever size the model was trained with.',
    );
    await using classifier = await open({ shape }, { pictures: { size: 4 } });
    expect((await classifier.classify(GREEN))[0]?.index).toBe(1);
  });

  test('whole numbers', async () => {
    const head = [
      { ...logits, outputs: ['floats.0'] },
      { op: 'Cast', inputs: ['floats.0'], outputs: ['y'], attributes: { to: 2 } },
    ];
    await expect(open({ head })).rejects.toThrow('got outputs y: uint8 [n, 3], expected one');
  });
});
