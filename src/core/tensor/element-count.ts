export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const dim of shape) count *= dim;
  return count;
}

/** `(2, 3)`, `(4,)`, `()`: as Relay prints shapes. */
export function formatShape(shape: readonly (number | string)[]): string {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
}
