import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HostTensor } from '../../src/core/host-tensor.ts';
import { buildDigits } from '../models/digits.ts';
import { main as writeModels } from '../models/main.ts';
import type { Network } from './digit-network.ts';

const folder = fileURLToPath(new URL('../../models/digits/', import.meta.url));

/** Writes trained weights as models/digits/model.onnx, and what is made of that file. */
export function writeDigits(weights: Network<ArrayLike<number>>): Promise<number> {
  const bias = (values: ArrayLike<number>) => HostTensor.from('float32', [values.length], values);
  const { onnx } = buildDigits({
    'conv1.weight': reorder(weights.conv1, [1, 5, 5, 16], [3, 0, 1, 2]),
    'conv1.bias': bias(weights.bias1),
    'conv2.weight': reorder(weights.conv2, [5, 5, 16, 32], [3, 2, 0, 1]),
    'conv2.bias': bias(weights.bias2),
    'dense.weight': reorder(weights.dense, [4, 4, 32, 10], [2, 0, 1, 3]).reshape([32 * 4 * 4, 10]),
    'dense.bias': bias(weights.bias3),
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}model.onnx`, onnx);
  return writeModels();
}

/** Transposes row-major values of a shape by `order`. */
function reorder(
  values: ArrayLike<number>,
  shape: readonly number[],
  order: readonly number[],
): HostTensor {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const result = HostTensor.zeros(
    'float32',
    order.map((axis) => shape[axis] ?? 1),
  );
  const elements = result.elements as Float32Array;
  for (let i = 0; i < elements.length; i++) {
    let rest = i;
    let from = 0;
    for (let axis = order.length - 1; axis >= 0; axis--) {
      const dim = result.shape[axis] ?? 1;
      from += (rest % dim) * (strides[order[axis] ?? 0] ?? 0);
      rest = Math.floor(rest / dim);
    }
    elements[i] = values[from] ?? 0;
  }
  return result;
}
