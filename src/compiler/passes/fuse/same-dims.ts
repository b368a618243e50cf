import { sameDim } from '../../../core/dim-symbols.ts';
import type { Dim } from '../../../core/dim.ts';

/** Returns true if two shapes are certainly equal; unknown dimensions never are. */
export function sameDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return (
    a.length === b.length && a.every((dim, axis) => dim !== '?' && sameDim(dim, b[axis] ?? '?'))
  );
}
