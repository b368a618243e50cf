import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { readTensorFile } from '../../frontend/onnx/protobuf/read-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { sharedPath } from '../../testing/files/shared-path.ts';
import { bestDigit } from '../sections/probability-bars.ts';
import { IMAGE_SIZE, rasterizeDrawing } from './rasterize-drawing.ts';
import { writeDigit } from './write-digit.ts';

const SHAPE = [1, 1, IMAGE_SIZE, IMAGE_SIZE];
/** Training draws from seeds 1, 2 and 20. */
const FRESH_SEED = 4243;
const MNIST_CNTK = sharedPath('models/mnist-cntk');

let digits: Session;

beforeAll(async () => {
  const bytes = readFileSync(new URL('../../../public/models/digits.weft', import.meta.url));
  digits = await Session.load(bytes, { device: 'host', worker: false });
});

afterAll(() => digits.dispose());

async function read(image: Float32Array): Promise<number> {
  const { probabilities } = await digits.run({ image: new Tensor('float32', image, SHAPE) });
  return bestDigit(probabilities?.data as Float32Array);
}

describe('the digit network of the page, beside mnist-cntk', () => {
  // The data sets beside mnist-cntk hold no digits but discs made from a seed: what they show is what
  // that network sees in them. Ours learns its sight from other such pictures (tools/train).
  test('sees in the test data of mnist-cntk what that network sees', async () => {
    const folders = readdirSync(MNIST_CNTK).filter((name) => name.startsWith('test_data_set'));
    expect(folders.length).toBeGreaterThan(0);
    for (const folder of folders) {
      const pixels = readTensorFile(readFileSync(`${MNIST_CNTK}/${folder}/input_0.pb`)).tensor;
      const scores = readTensorFile(readFileSync(`${MNIST_CNTK}/${folder}/output_0.pb`)).tensor;
      const image = Float32Array.from(pixels.elements as Float32Array, (value) => value / 255);
      expect(await read(image), folder).toBe(bestDigit(scores.elements as Float32Array));
    }
  });

  // The model was trained on MNIST, which has no part in our training, and must find the same digits
  // in what our generator writes.
  test('agrees with mnist-cntk, which was trained on people’s digits', async () => {
    const model = readFileSync(`${MNIST_CNTK}/model.onnx`);
    const judge = await Session.load(model, { device: 'host', worker: false });
    const random = seededRandom(FRESH_SEED);
    const disagreements: string[] = [];
    for (let i = 0; i < 200; i++) {
      const digit = i % 10;
      const image = rasterizeDrawing(writeDigit(digit, random));
      if (image === undefined) throw new Error('the drawing is empty');
      const pixels = new Tensor(
        'float32',
        image.map((ink) => 255 * ink),
        SHAPE,
      );
      const [scores] = Object.values(await judge.run({ Input3: pixels }));
      const theirs = bestDigit(scores?.data as Float32Array);
      const ours = await read(image);
      if (theirs !== ours || ours !== digit) disagreements.push(`${digit}: ${theirs}, ${ours}`);
    }
    await judge.dispose();
    expect(disagreements.length, disagreements.join('; ')).toBeLessThanOrEqual(8);
  });
});
