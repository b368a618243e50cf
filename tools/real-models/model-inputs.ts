import { elementCount } from '../../src/core/tensor/element-count.ts';
import { seededRandom } from '../../src/core/random.ts';
import { Tensor } from '../../src/client/index.ts';

/** Inputs by name. */
export type ModelInputs = Readonly<Record<string, Tensor>>;

/** Floats of a normal distribution, such as features. */
export function normals(shape: readonly number[], { scale = 1, seed = 1 } = {}): Tensor {
  const random = seededRandom(seed);
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const data = Float32Array.from({ length: elementCount(shape) }, () => scale * normal());
  return new Tensor('float32', data, shape);
}

export function zeros(shape: readonly number[]): Tensor {
  return new Tensor('float32', new Float32Array(elementCount(shape)), shape);
}

export function integers(values: readonly number[], shape: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), shape);
}

/**
 * A picture [1, C, H, W] with what pictures have: large areas, edges and some noise, elements from `low` to `high`.
 */
export function picture(
  [channels, height, width]: readonly [number, number, number],
  [low, high]: readonly [low: number, high: number],
): Tensor {
  const random = seededRandom(channels * height + width);
  const data = new Float32Array(channels * height * width);
  for (let at = 0; at < data.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width) % height];
    const channel = Math.floor(at / (width * height));
    const areas = Math.sin(x / 17 + channel) + Math.cos(y / 23 - channel);
    const stroke = (x >> 2) % 5 === 0 && (y >> 3) % 2 === 0 ? -1 : 0;
    const lightness = Math.min(1, Math.max(0, 0.6 + 0.15 * areas + 0.5 * stroke + 0.1 * random()));
    data[at] = low + (high - low) * lightness;
  }
  return new Tensor('float32', data, [1, channels, height, width]);
}

/** A sound [1, samples]: a tone that glides, with overtones and noise, elements up to `peak`. */
export function sound(samples: number, peak: number): Tensor {
  const random = seededRandom(samples);
  const data = Float32Array.from({ length: samples }, (_, i) => {
    const phase = (2 * Math.PI * i * (180 + i / 100)) / 16_000;
    const voice = Math.sin(phase) + 0.5 * Math.sin(3 * phase) + 0.25 * Math.sin(7 * phase);
    return (peak / 2) * (voice / 1.75 + 0.2 * random());
  });
  return new Tensor('float32', data, [1, samples]);
}

export function flag(value: boolean): Tensor {
  return Tensor.from([value], 'bool', [1]);
}
