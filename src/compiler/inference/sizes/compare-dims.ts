import { NO_FACTS, proveDifferent, proveEqual } from '../../../core/dims/dim-algebra.ts';
import type { DimFacts } from '../../../core/dims/dim-bounds.ts';
import type { Dim } from '../../../core/dims/dim.ts';

type DimComparison = 'equal' | 'different' | 'unknown';

/**
 * Compares two dimensions over all values of their symbols: provably equal, provably different, or
 * neither.
 */
export function compareDims(a: Dim, b: Dim, facts: DimFacts = NO_FACTS): DimComparison {
  if (a === b && a !== '?') return 'equal';
  if (typeof a === 'number' && typeof b === 'number') return 'different';
  if (proveEqual(a, b, facts)) return 'equal';
  return proveDifferent(a, b, facts) ? 'different' : 'unknown';
}
