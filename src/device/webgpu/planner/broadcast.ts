import { elementCount, type Shape } from '../../../core/tensor/shape.ts';

/** How the position in a broadcast operand follows from the position in the result. */
export type Broadcast =
  | { readonly kind: 'same' }
  /** Element 0. */
  | { readonly kind: 'scalar' }
  /** Element (i / inner) % size, where the operand covers one run of adjacent axes. */
  | {
      readonly kind: 'run';
      readonly inner: number;
      readonly size: number;
      readonly isFirst: boolean;
    }
  /** Some axes step, others stay. */
  | { readonly kind: 'general' };

/** Classifies the broadcast of a shape to a result's shape. */
export function classifyBroadcast(from: Shape, to: Shape): Broadcast {
  const size = elementCount(from);
  if (size === elementCount(to)) return { kind: 'same' };
  if (size === 1) return { kind: 'scalar' };
  const padded = padRank(from, to.length);
  const steps = (axis: number) => padded[axis] === to[axis];
  let first = 0;
  while (padded[first] === 1) first++;
  let last = to.length - 1;
  while (padded[last] === 1) last--;
  for (let axis = first; axis <= last; axis++) if (!steps(axis)) return { kind: 'general' };
  return {
    kind: 'run',
    inner: elementCount(to.slice(last + 1)),
    size,
    isFirst: elementCount(to.slice(0, first)) === 1,
  };
}

/** The shape with ones in front up to a rank. */
export function padRank(shape: Shape, rank: number): number[] {
  return [...new Array<number>(rank - shape.length).fill(1), ...shape];
}
