import type { PrimitiveFunction } from './primitive-function.ts';

/**
 * Whether a primitive function makes its result itself, of a size that nobody knows before: it is
 * called with its inputs only, and gives the tensor.
 */
export function returnsTensor({ results }: Pick<PrimitiveFunction, 'results'>): boolean {
  return results.some(({ type }) => type.shape.includes('?'));
}
