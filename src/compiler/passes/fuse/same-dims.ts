import { sameDim } from '../../../core/dim-symbols.ts';
import type { Dim } from '../../../core/dim.ts';

/** Whether two shapes are certainly equal. */
export function sameDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return (
    a.length === b.length && a.every((dim, axis) => dim !== '?' && sameDim(dim, b[axis] ?? '?'))
  );
}
