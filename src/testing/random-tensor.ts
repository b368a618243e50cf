import { HostTensor } from '../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../core/tensor/shape.ts';
import { seededRandom } from '../core/random.ts';

/** A float32 tensor of elements in [-2, 2) from a seed. */
export function randomTensor(shape: Shape, seed: number): HostTensor {
  const random = seededRandom(seed);
  const values = Array.from({ length: elementCount(shape) }, () => random() * 4 - 2);
  return HostTensor.from('float32', shape, values);
}
