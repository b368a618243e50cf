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
  const first = convolution(image, {
    weights: reorder(weights.conv1, [1, 5, 5, 16], [3, 0, 1, 2]),
    bias: weights.bias1,
    pool: 2,
  });
  const second = convolution(first, {
    weights: reorder(weights.conv2, [5, 5, 16, 32], [3, 2, 0, 1]),
    bias: weights.bias2,
    pool: 3,
  });
  const features = call('reshape', [second], { shape: [1, 32 * 4 * 4] });
  const matrix = reorder(weights.dense, [4, 4, 32, 10], [2, 0, 1, 3]).reshape([32 * 4 * 4, 10]);
  const scores = dense(features, matrix, weights.bias3);
  const probabilities = call('softmax', [scores], { axis: 1 });
  const main = func([image], probabilities, { resultNames: ['probabilities'] });
  return moduleOf({ main }, { title: 'Handwritten digits', producer: 'scripts/train' });
}

interface Convolution {
  /** [channels, input channels, 5, 5]. */
  readonly weights: HostTensor;
  readonly bias: ArrayLike<number>;
  /** Rows, columns and strides of the pooling behind it. */
  readonly pool: number;
}

/** A convolution that keeps the size, relu, and the largest of each square. */
function convolution(input: Expr, { weights, bias, pool }: Convolution): Expr {
  const channels = HostTensor.from('float32', [bias.length], bias);
  const sums = call('conv2d', [input, constant(weights), constant(channels)], {
    strides: [1, 1],
    pads: [2, 2, 2, 2],
    dilations: [1, 1],
    groups: 1,
  });
  return call('max_pool', [call('relu', [sums])], {
    kernel: [pool, pool],
    strides: [pool, pool],
    pads: [0, 0, 0, 0],
    dilations: [1, 1],
  });
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
