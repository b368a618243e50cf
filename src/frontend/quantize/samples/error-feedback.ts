/** How errors of elements that are rounded carry over to those that are rounded behind them. */
export interface ErrorFeedback {
  /** The elements in the order in which they are rounded. */
  readonly order: Uint32Array;
  /** For each of them the shares of the errors before it, row behind row: one has none, the next one, and so on. */
  readonly shares: Float64Array;
}

/** Added to the diagonal, relative to its mean: fewer inputs than elements leave it singular. */
const DAMPING = 0.01;
/**
 * Added for as many vectors as each has elements, of which few go along with each other by chance: to each place of the
 * diagonal in proportion to itself. In directions that fewer vectors than elements leave out, all count alike.
 */
const SHRINKAGE = 0.05;

/**
 * The feedback with which errors of a row of weights move what it makes of inputs least, for inputs of these second
 * moments: the lower triangle of the sum of x xᵀ, row by row. Undefined where all inputs are zero.
 *
 * This is the rounding of GPTQ (Frantar et al., ICLR 2023) as QuIP has it (Chee et al., NeurIPS 2023): with the moments
 * factored as (I + U) D (I + U)ᵀ, U above the diagonal, the error of a row is a sum of squares, each of which the element
 * that is rounded last in it makes as small as a step allows. Elements with large inputs come first.
 */
export function errorFeedback(
  moments: Float64Array,
  { depth, count }: { readonly depth: number; readonly count: number },
): ErrorFeedback | undefined {
  const diagonal = Float64Array.from({ length: depth }, (_, i) => moments[rowAt(i) + i] ?? 0);
  const mean = diagonal.reduce((sum, value) => sum + value, 0) / depth;
  if (!(mean > 0) || !Number.isFinite(mean)) return undefined;
  const order = Uint32Array.from(diagonal.keys()).toSorted(
    (a, b) => (diagonal[b] ?? 0) - (diagonal[a] ?? 0),
  );
  const [own, all] = [SHRINKAGE * (depth / count), SHRINKAGE * Math.max(0, depth / count - 1)];
  const factor = new Float64Array(moments.length + depth);
  for (let i = 0; i < depth; i++) {
    for (let j = 0; j <= i; j++) {
      const [a = 0, b = 0] = [order[i], order[j]];
      factor[rowAt(i) + j] = (a < b ? moments[rowAt(b) + a] : moments[rowAt(a) + b]) ?? 0;
    }
    factor[rowAt(i) + i] = (factor[rowAt(i) + i] ?? 0) * (1 + own) + (DAMPING + all) * mean;
  }
  factorInPlace(factor, depth);
  const shares = new Float64Array((depth * (depth - 1)) / 2);
  for (let i = 1; i < depth; i++) {
    shares.set(factor.subarray(rowAt(i), rowAt(i) + i), rowAt(i - 1));
  }
  return { order, shares };
}

/** The index of a row's first element, in the elements of a lower triangle with its diagonal. */
const rowAt = (row: number): number => (row * (row + 1)) / 2;

/** The lower triangle of a matrix becomes Uᵀ and, on the diagonal, D. */
function factorInPlace(matrix: Float64Array, depth: number): void {
  for (let k = depth - 1; k >= 0; k--) {
    const at = rowAt(k);
    const own = matrix[at + k] ?? 0;
    for (let j = 0; j < k; j++) {
      const share = (matrix[at + j] ?? 0) / own;
      const row = rowAt(j);
      // Elements before j of the row of k are divided by now.
      for (let i = 0; i < j; i++) {
        matrix[row + i] = (matrix[row + i] ?? 0) - share * own * (matrix[at + i] ?? 0);
      }
      matrix[row + j] = (matrix[row + j] ?? 0) - share * share * own;
      matrix[at + j] = share;
    }
  }
}

/** Rounds a row of weights, each with the share of the errors before it. `round` gives what a value is rounded to. */
export function roundWithFeedback(
  row: ArrayLike<number>,
  { order, shares }: ErrorFeedback,
  round: (value: number, index: number) => number,
): void {
  const errors = new Float64Array(order.length);
  for (let j = 0, at = 0; j < order.length; j++) {
    const index = order[j] ?? 0;
    let carried = 0;
    for (let i = 0; i < j; i++) carried += (errors[i] ?? 0) * (shares[at++] ?? 0);
    const value = row[index] ?? 0;
    errors[j] = value - round(value + carried, index);
  }
}
