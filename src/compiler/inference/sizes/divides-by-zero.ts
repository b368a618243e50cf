import type { Dim } from '../../../core/dims/dim.ts';

/** Returns true if a dimension divides by the number 0, in any part of it. */
export function dividesByZero(dim: Dim): boolean {
  if (typeof dim !== 'object') return false;
  const isDivision = dim.op === 'floordiv' || dim.op === 'mod';
  return (isDivision && dim.right === 0) || dividesByZero(dim.left) || dividesByZero(dim.right);
}
