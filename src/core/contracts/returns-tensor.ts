import type { PrimitiveFunction } from './primitive-function.ts';

/**
 * Returns true for a primitive function that allocates its result itself, because nobody knows its
 * size before: it is called with its inputs only, and gives the tensor.
 */
export function returnsTensor({ results }: Pick<PrimitiveFunction, 'results'>): boolean {
  return results.some(({ type }) => type.shape.includes('?'));
}
