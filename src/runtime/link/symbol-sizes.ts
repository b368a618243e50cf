import type { BytecodeFunction } from '../../bytecode/executable.ts';
import { TensorValue, type Value } from '../values/value.ts';

/** The sizes that arguments give to the symbols of a function's signature. */
export function symbolSizes(
  { signature }: BytecodeFunction,
  args: readonly Value[],
): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const [index, type] of (signature?.params ?? []).entries()) {
    const arg = args[index];
    if (type.kind !== 'tensor' || !(arg instanceof TensorValue)) continue;
    for (const [axis, dim] of type.shape.entries()) {
      const size = arg.shape[axis];
      if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
    }
  }
  return sizes;
}
