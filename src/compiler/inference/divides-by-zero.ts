import type { Dim } from '../../core/dim.ts';

/** Whether a dimension divides something by the number 0. */
export function dividesByZero(dim: Dim): boolean {
  if (typeof dim !== 'object') return false;
  const isDivision = dim.op === 'floordiv' || dim.op === 'mod';
  return (isDivision && dim.right === 0) || dividesByZero(dim.left) || dividesByZero(dim.right);
}
