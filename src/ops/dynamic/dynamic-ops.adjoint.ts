import type { Adjoint } from '../adjoint/adjoint.ts';
import { DYNAMIC_OPS } from './dynamic-ops.ts';

/** Floats that follow from others: where a derivative is asked for, there is none. */
const MISSING: ReadonlySet<string> = new Set(['range', 'mel_weights', 'resize_table']);

/** Sizes, indices and tables of sizes have no derivatives. */
export const DYNAMIC_ADJOINTS: Readonly<Record<string, Adjoint>> = Object.fromEntries(
  DYNAMIC_OPS.filter(({ name }) => !MISSING.has(name)).map(({ name }) => [name, 'discrete']),
);
