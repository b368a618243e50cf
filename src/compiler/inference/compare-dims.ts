import type { Dim } from '../../core/dim.ts';
import { proveDifferent, proveEqual } from '../../core/dim-algebra.ts';

export type DimComparison = 'equal' | 'different' | 'unknown';

/** Whether two dimensions are equal for all values of their symbols, for none, or for some. */
export function compareDims(a: Dim, b: Dim): DimComparison {
  if (a === b && a !== '?') return 'equal';
  if (typeof a === 'number' && typeof b === 'number') return 'different';
  if (proveEqual(a, b)) return 'equal';
  return proveDifferent(a, b) ? 'different' : 'unknown';
}
