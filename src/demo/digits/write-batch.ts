import { seededRandom } from '../../core/random.ts';
import { IMAGE_SIZE } from './rasterize-drawing.ts';
import { sampleDigit } from './write-digit.ts';

/** Written digits: images [count, 1, 28, 28] from 0 to 1, and which digits they are, [count]. */
export interface DigitBatch {
  readonly images: Float32Array;
  readonly labels: Int32Array;
}

/** The same digits for the same seed. */
export function writeBatch(seed: number, count: number): DigitBatch {
  const random = seededRandom(seed);
  const pixels = IMAGE_SIZE * IMAGE_SIZE;
  const images = new Float32Array(count * pixels);
  const labels = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const { digit, image } = sampleDigit(random);
    images.set(image, i * pixels);
    labels[i] = digit;
  }
  return { images, labels };
}
