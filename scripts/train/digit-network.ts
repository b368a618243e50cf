import { nn, numpy as np } from '@jax-js/jax';

type Array = np.Array;

/**
 * Weights of the digit network. A convolution is a product of patches with a matrix here, which is
 * several times faster in WebAssembly than the library's convolution.
 */
export type Network<T> = {
  /** [25, 16]: 5 x 5 patches of the image, stride 2. */
  conv1: T;
  bias1: T;
  /** [144, 32]: 3 x 3 patches of 16 channels (channel fastest), stride 2. */
  conv2: T;
  bias2: T;
  /** [1568, 28]: 7 x 7 x 32 features, channel fastest. */
  dense1: T;
  bias3: T;
  /** [28, 10] */
  dense2: T;
  bias4: T;
};

export const NETWORK_SHAPES: Network<readonly number[]> = {
  conv1: [25, 16],
  bias1: [16],
  conv2: [144, 32],
  bias2: [32],
  dense1: [1568, 28],
  bias3: [28],
  dense2: [28, 10],
  bias4: [10],
};

const IMAGE = 28;
const KERNEL = 5;
const HALF = IMAGE / 2;
/** Rows of {@link imagePatches} for one image. */
export const PATCHES = HALF * HALF;

/** Writes the [196, 25] patches of one image (padding 2, stride 2) at `offset` of `out`. */
export function imagePatches(image: Float32Array, out: Float32Array, offset: number): void {
  let at = offset;
  for (let row = 0; row < HALF; row++) {
    for (let column = 0; column < HALF; column++) {
      for (let i = 0; i < KERNEL; i++) {
        for (let j = 0; j < KERNEL; j++) {
          const y = 2 * row + i - 2;
          const x = 2 * column + j - 2;
          const inside = y >= 0 && y < IMAGE && x >= 0 && x < IMAGE;
          out[at++] = inside ? (image[y * IMAGE + x] ?? 0) : 0;
        }
      }
    }
  }
}

/** Logits [n, 10] of patches [n * 196, 25]. Consumes its arguments. */
export function logits(net: Network<Array>, patches: Array, n: number): Array {
  const first = nn.relu(np.matmul(patches, net.conv1).add(net.bias1)).reshape([n, HALF, HALF, 16]);
  const second = nn
    .relu(np.matmul(patchesOfFeatures(first, n), net.conv2).add(net.bias2))
    .reshape([n, 1568]);
  const hidden = nn.relu(np.matmul(second, net.dense1).add(net.bias3));
  return np.matmul(hidden, net.dense2).add(net.bias4);
}

/** [n * 49, 144]: 3 x 3 patches with padding 1 and stride 2, taken from an even grid. */
function patchesOfFeatures(features: Array, n: number): Array {
  const padding: [number, number][] = [
    [0, 0],
    [1, 1],
    [1, 1],
    [0, 0],
  ];
  const grid = np.pad(features, padding).reshape([n, 8, 2, 8, 2, 16]);
  const taps: Array[] = [];
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      const rows: [number, number] = i === 2 ? [1, 8] : [0, 7];
      const columns: [number, number] = j === 2 ? [1, 8] : [0, 7];
      taps.push(grid.ref.slice([], rows, i % 2, columns, j % 2, []));
    }
  }
  grid.dispose();
  return np.concatenate(taps, -1).reshape([n * 49, 144]);
}

/** Mean cross entropy against targets [n, 10]. Consumes its arguments. */
export function loss(net: Network<Array>, patches: Array, targets: Array, n: number): Array {
  return nn
    .logSoftmax(logits(net, patches, n))
    .mul(targets)
    .sum()
    .mul(-1 / n);
}
