import type { Adjoint } from '../adjoint/adjoint.ts';
import { DYNAMIC_OPS } from './dynamic-ops.ts';
import { rangeAdjoint } from './range.adjoint.ts';

/**
 * Sizes, indices and tables of sizes have no derivatives. `resize_table` has no adjoint: the indices of the nearest
 * elements are integers, and weights are read by `resample`, which asks for a table that follows from sizes. What
 * reads weights otherwise is refused, for they do depend on a scale that is an input.
 */
export const DYNAMIC_ADJOINTS: Readonly<Record<string, Adjoint>> = {
  ...Object.fromEntries(
    DYNAMIC_OPS.filter(({ name }) => name !== 'resize_table').map(({ name }) => [name, 'discrete']),
  ),
  range: rangeAdjoint,
  // Edges are rounded to places of the spectrum.
  mel_weights: 'zero',
};
