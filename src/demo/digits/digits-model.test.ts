import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { seededRandom } from '../../core/random.ts';
import { bestDigit } from '../sections/probability-bars.ts';
import { DIGIT_SKELETONS } from './digit-skeletons.ts';
import { IMAGE_SIZE, rasterizeDrawing } from './rasterize-drawing.ts';
import { neatDigit, sampleDigit } from './write-digit.ts';

const root = new URL('../../../', import.meta.url);
const SHAPE = [1, 1, IMAGE_SIZE, IMAGE_SIZE];
/** Training draws from seeds 1, 2 and 20. */
const FRESH_SEED = 4242;

let digits: Session;

beforeAll(async () => {
  const bytes = readFileSync(new URL('public/models/digits.weft', root));
  digits = await Session.load(bytes, { device: 'host', worker: false });
});

afterAll(() => digits.dispose());

async function read(image: Float32Array): Promise<number> {
  const { probabilities } = await digits.run({ image: new Tensor('float32', image, SHAPE) });
  return bestDigit(probabilities?.data as Float32Array);
}

function page(drawing: Parameters<typeof rasterizeDrawing>[0]): Float32Array {
  const image = rasterizeDrawing(drawing);
  if (image === undefined) throw new Error('the drawing is empty');
  return image;
}

describe('the digit network of the page', () => {
  test('is small, takes one image and gives ten probabilities', async () => {
    const bytes = readFileSync(new URL('public/models/digits.weft', root));
    expect(bytes.byteLength).toBeLessThan(300 * 1024);
    expect(digits.inputs).toEqual([{ name: 'image', dtype: 'float32', shape: SHAPE }]);
    expect(digits.outputs).toEqual([{ name: 'probabilities', dtype: 'float32', shape: [1, 10] }]);
    const image = new Tensor('float32', new Float32Array(IMAGE_SIZE * IMAGE_SIZE), SHAPE);
    const { probabilities } = await digits.run({ image });
    const sum = Array.from(probabilities?.data ?? [], Number).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(1, 5);
  });

  test('reads at least 97% of fresh digits with noise, blur and loose placement', async () => {
    const random = seededRandom(FRESH_SEED);
    const wrong: string[] = [];
    for (let i = 0; i < 1000; i++) {
      const { digit, image } = sampleDigit(random);
      const answer = await read(image);
      if (answer !== digit) wrong.push(`${digit} as ${answer}`);
    }
    expect(wrong.length, wrong.join(', ')).toBeLessThanOrEqual(30);
  });

  test('reads every neat way to write a digit', async () => {
    const wrong: string[] = [];
    for (const [digit, skeletons] of DIGIT_SKELETONS.entries()) {
      for (const variant of skeletons.keys()) {
        const answer = await read(page({ strokes: neatDigit(digit, variant), penRadius: 5.5 }));
        if (answer !== digit) wrong.push(`${digit} (variant ${variant}) as ${answer}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
