import { stopGradient as stopOf } from '../../compiler/ir/build.ts';
import { within } from '../call-site.ts';
import { currentFrame } from '../trace.ts';
import { mapTree } from '../data/tree.ts';
import type { ResultOf } from '../data/value-types.ts';
import { isValueLeaf, valueOf } from '../values.ts';
import { writtenLeaf } from './write-function.ts';

/**
 * The value, or objects and arrays of values, through which no derivative goes. Outside of programs the value itself.
 */
export function stopGradient<const T>(value: T): ResultOf<T> {
  return within(stopGradient, () => {
    const frame = currentFrame();
    return mapTree(value, isValueLeaf, (leaf, path) => {
      if (frame === undefined) return leaf;
      const written = writtenLeaf(frame, leaf, path);
      return valueOf(frame, stopOf(written.expr), written);
    }) as ResultOf<T>;
  }, ['stopGradient', arguments, 1]);
}
