import {
  call,
  constant,
  func,
  moduleOf,
  variable,
  type Expr,
  type Module,
} from '../../src/compiler/index.ts';
import { HostTensor } from '../../src/core/host-tensor.ts';
import { IMAGE_SIZE } from '../../src/demo/digits/rasterize-drawing.ts';
import type { Network } from './digit-network.ts';

/** The trained network as a module of our IR: `image` [1, 1, 28, 28] to `probabilities` [1, 10]. */
export function digitsModule(weights: Network<ArrayLike<number>>): Module {
  const image = variable('image', 'float32', [1, 1, IMAGE_SIZE, IMAGE_SIZE]);
  // Patches start two pixels (then one) before the image and end where the stride lets them.
  const first = convolution(image, {
    weights: reorder(weights.conv1, [1, 5, 5, 16], [3, 0, 1, 2]),
    bias: weights.bias1,
    pads: [2, 2, 1, 1],
  });
  const second = convolution(first, {
    weights: reorder(weights.conv2, [3, 3, 16, 32], [3, 2, 0, 1]),
    bias: weights.bias2,
    pads: [1, 1, 0, 0],
  });
  const features = call('reshape', [second], { shape: [1, 7 * 7 * 32] });
  const dense1 = reorder(weights.dense1, [7, 7, 32, 28], [2, 0, 1, 3]).reshape([7 * 7 * 32, 28]);
  const hidden = call('relu', [dense(features, dense1, weights.bias3)]);
  const dense2 = HostTensor.from('float32', [28, 10], weights.dense2);
  const probabilities = call('softmax', [dense(hidden, dense2, weights.bias4)], { axis: 1 });
  const main = func([image], probabilities, { resultNames: ['probabilities'] });
  return moduleOf({ main }, { title: 'Handwritten digits', producer: 'scripts/train' });
}

interface Convolution {
  readonly weights: HostTensor;
  readonly bias: ArrayLike<number>;
  readonly pads: readonly number[];
}

function convolution(input: Expr, { weights, bias, pads }: Convolution): Expr {
  const attributes = { strides: [2, 2], pads, dilations: [1, 1], groups: 1 };
  const channels = HostTensor.from('float32', [bias.length], bias);
  return call('relu', [call('conv2d', [input, constant(weights), constant(channels)], attributes)]);
}

function dense(input: Expr, weights: HostTensor, bias: ArrayLike<number>): Expr {
  const row = HostTensor.from('float32', [1, bias.length], bias);
  return call('add', [call('matmul', [input, constant(weights)]), constant(row)]);
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
