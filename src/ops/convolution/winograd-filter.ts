import type { WindowAxis } from './window.ts';

export type Matrix = readonly (readonly number[])[];

/**
 * Minimal filtering of tiles by windows of 3 x 3. With M the matrix of each, M d M^T transforms an image's
 * tile, a window, and the products of both, point by point, back to a tile of the result.
 */
export interface WinogradFilter {
  /** As many rows as a tile of the image has; its square is the number of points. */
  readonly image: Matrix;
  readonly weights: Matrix;
  /** The matrix with as many rows as a tile of the result has. */
  readonly output: Matrix;
}

const [A, B] = [Math.SQRT1_2, Math.SQRT2];

/**
 * F(4x4, 3x3) with the points 0, ±√½, ±√2 and infinity: nearly as exact in float32 as the sum of
 * products, which the usual points ±1 and ±2 are not. Winograd, "Arithmetic Complexity of
 * Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
 */
export const WINOGRAD_4: WinogradFilter = {
  image: [
    [1, 0, -2.5, 0, 1, 0],
    [0, -B, -2, A, 1, 0],
    [0, B, -2, -A, 1, 0],
    [0, -A, -0.5, B, 1, 0],
    [0, A, -0.5, -B, 1, 0],
    [0, 1, 0, -2.5, 0, 1],
  ],
  weights: [
    [1, 0, 0],
    [-2 / 3, (-2 / 3) * A, -1 / 3],
    [-2 / 3, (2 / 3) * A, -1 / 3],
    [1 / 6, B / 6, 1 / 3],
    [1 / 6, -B / 6, 1 / 3],
    [0, 0, 1],
  ],
  output: [
    [1, 1, 1, 1, 1, 0],
    [0, A, -A, B, -B, 0],
    [0, 0.5, 0.5, 2, 2, 0],
    [0, A / 2, -A / 2, 2 * B, -2 * B, 1],
  ],
};

/** F(2x2, 3x3) with the points 0, ±1 and infinity: more exact than the sum of products. */
export const WINOGRAD_2: WinogradFilter = {
  image: [
    [1, 0, -1, 0],
    [0, 1, 1, 0],
    [0, -1, 1, 0],
    [0, 1, 0, -1],
  ],
  weights: [
    [1, 0, 0],
    [0.5, 0.5, 0.5],
    [0.5, -0.5, 0.5],
    [0, 0, 1],
  ],
  output: [
    [1, 1, 1, 0],
    [0, 1, -1, -1],
  ],
};

/** Returns true if a window has three taps along an axis, stride 1 and no gaps between taps. */
export const isWinogradAxis = ({ kernel, stride, dilation }: WindowAxis): boolean =>
  kernel === 3 && stride === 1 && dilation === 1;
