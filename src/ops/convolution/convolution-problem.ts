import type { MatmulProblem } from '../linear/matmul-problem.ts';

interface ConvolutionSizes {
  readonly batch: number;
  readonly outChannels: number;
  readonly groups: number;
  /** Channels of a group times the elements of the window. */
  readonly groupTaps: number;
  /** Positions of the window, which are pixels of the result. */
  readonly pixels: number;
  readonly hasBias: boolean;
}

/**
 * A convolution as a product for each image and group: weights (a) times the matrix of windows (b), one
 * column for each position. A window of one element that steps by one makes the image that matrix.
 */
export function convolutionProblem(sizes: ConvolutionSizes): MatmulProblem {
  const { batch, outChannels, groups, groupTaps: k, pixels: n, hasBias } = sizes;
  const m = outChannels / groups;
  return {
    m,
    n,
    k,
    batch: [batch, groups],
    a: { batch: [0, m * k], row: k, column: 1 },
    b: { batch: [groups * k * n, k * n], row: n, column: 1 },
    c: hasBias ? { row: 1, column: 0, batch: m } : undefined,
    alpha: 1,
    beta: 1,
  };
}
