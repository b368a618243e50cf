import type { Adjoint } from '../adjoint/adjoint.ts';
import { DYNAMIC_OPS } from './dynamic-ops.ts';
import { rangeAdjoint } from './range.adjoint.ts';

/** Sizes, indices and tables of sizes have no derivatives. */
export const DYNAMIC_ADJOINTS: Readonly<Record<string, Adjoint>> = {
  ...Object.fromEntries(
    DYNAMIC_OPS.filter(({ name }) => name !== 'resize_table').map(({ name }) => [name, 'discrete']),
  ),
  range: rangeAdjoint,
  // Edges are rounded to places of the spectrum.
  mel_weights: 'zero',
};
