import { nn, numpy as np } from '@jax-js/jax';

type Array = np.Array;

/**
 * Weights of the digit network. A convolution is a product of patches with a matrix here, which is
 * several times faster in WebAssembly than the library's convolution.
 */
export type Network<T> = {
  /** [25, 16]: 5 x 5 patches of the image. */
  conv1: T;
  bias1: T;
  /** [400, 32]: 5 x 5 patches of 16 channels, channel fastest. */
  conv2: T;
  bias2: T;
  /** [512, 10]: 4 x 4 x 32 features, channel fastest. */
  dense: T;
  bias3: T;
};

export const NETWORK_SHAPES: Network<readonly number[]> = {
  conv1: [25, 16],
  bias1: [16],
  conv2: [400, 32],
  bias2: [32],
  dense: [512, 10],
  bias3: [10],
};

const IMAGE = 28;
const KERNEL = 5;
/** Rows and columns behind the first pooling, 2 x 2. */
const HALF = IMAGE / 2;
/** Of these, as many as the second pooling, 3 x 3, reads. */
const READ = 12;
/** Rows of {@link imagePatches} for one image. */
export const PATCHES = IMAGE * IMAGE;

/**
 * Writes the [784, 25] patches of one image (padding 2) at `offset` of `out`: the four that the
 * first pooling compares stand together.
 */
export function imagePatches(image: Float32Array, out: Float32Array, offset: number): void {
  let at = offset;
  for (let place = 0; place < PATCHES; place++) {
    const pool = Math.floor(place / 4);
    const row = 2 * Math.floor(pool / HALF) + (Math.floor(place / 2) % 2);
    const column = 2 * (pool % HALF) + (place % 2);
    for (let i = 0; i < KERNEL; i++) {
      for (let j = 0; j < KERNEL; j++) {
        const y = row + i - 2;
        const x = column + j - 2;
        const inside = y >= 0 && y < IMAGE && x >= 0 && x < IMAGE;
        out[at++] = inside ? (image[y * IMAGE + x] ?? 0) : 0;
      }
    }
  }
}

/** Logits [n, 10] of patches [n * 784, 25]. Consumes its arguments. */
export function logits(net: Network<Array>, patches: Array, n: number): Array {
  const first = nn
    .relu(np.matmul(patches, net.conv1).add(net.bias1))
    .reshape([n * HALF * HALF, 4, 16])
    .max(1)
    .reshape([n, HALF, HALF, 16]);
  const second = nn
    .relu(np.matmul(patchesOfFeatures(first, n), net.conv2).add(net.bias2))
    .reshape([n * 4, 3, 4, 3, 32])
    .max([1, 3])
    .reshape([n, 512]);
  return np.matmul(second, net.dense).add(net.bias3);
}

/** [n * 144, 400]: 5 x 5 patches with padding 2, at the places that the second pooling reads. */
function patchesOfFeatures(features: Array, n: number): Array {
  const padding: [number, number][] = [
    [0, 0],
    [2, 2],
    [2, 2],
    [0, 0],
  ];
  const grid = np.pad(features, padding);
  const taps: Array[] = [];
  for (let i = 0; i < KERNEL; i++) {
    for (let j = 0; j < KERNEL; j++) {
      taps.push(grid.ref.slice([], [i, i + READ], [j, j + READ], []));
    }
  }
  grid.dispose();
  return np.concatenate(taps, -1).reshape([n * READ * READ, 400]);
}

/** Rows of a batch of n that are digits; the others are pictures. */
export const digitRows = (n: number): number => n / 4;

/**
 * Mean cross entropy of the digits, and mean squared distance of the centred logits of the pictures.
 * `targets` [n, 10] has probabilities for digits and centred scores for pictures. Consumes its
 * arguments.
 */
export function loss(net: Network<Array>, patches: Array, targets: Array, n: number): Array {
  const rows = digitRows(n);
  const scores = logits(net, patches, n);
  const entropy = nn
    .logSoftmax(scores.ref.slice([0, rows], []))
    .mul(targets.ref.slice([0, rows], []))
    .sum()
    .mul(-1 / rows);
  const pictures = scores.slice([rows, n], []);
  const centred = pictures.ref.sub(pictures.mean(1, { keepdims: true }));
  const distance = np.square(centred.sub(targets.slice([rows, n], []))).mean();
  return entropy.add(distance);
}
