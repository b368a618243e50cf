import { countWork, reserveTensorMemory } from '../../../core/limits/work-meter.ts';
import { FormatError } from '../../../core/errors.ts';
import type { SparseDimension, Sparsity } from './read-model.ts';

interface Dense {
  readonly shape: readonly number[];
  /** Bytes of an element. */
  readonly size: number;
  readonly where: string;
}

/**
 * The bytes of a sparse tensor with its zeros. Dimensions are stored in the order of `order`: those of the shape, each in
 * blocks where `blockMap` has it, then those within a block. Throws FormatError for places out of bounds.
 */
export function densify(
  stored: Uint8Array,
  { order, blockMap, dimensions }: Sparsity,
  { shape, size, where }: Dense,
): Uint8Array {
  const rank = shape.length;
  const count = shape.reduce((product, dim) => product * dim, 1);
  const fail = (got: string): FormatError =>
    new FormatError({ where, got, expected: `a sparse tensor of shape (${shape.join(', ')})` });
  const isOrder = order.toSorted((a, b) => a - b).every((axis, i) => axis === i);
  if (!isOrder || order.length !== rank + blockMap.length || dimensions.length !== order.length) {
    throw fail(`${order.length} dimensions in an order of ${rank} and ${blockMap.length}`);
  }
  if (blockMap.some((axis) => !(axis >= 0 && axis < rank))) throw fail('blocks of no dimension');
  // How far an element of each stored dimension is from the next one in the shape.
  const blockSizes = blockMap.map((_, i) => dimensions[order.indexOf(rank + i)]?.size ?? 1);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const steps = order.map((dim) => {
    if (dim >= rank) return strides[blockMap[dim - rank] ?? 0] ?? 1;
    const block = blockMap.indexOf(dim);
    return (strides[dim] ?? 1) * (block < 0 ? 1 : (blockSizes[block] ?? 1));
  });
  reserveTensorMemory(count * size);
  const dense = new Uint8Array(count * size);
  let read = 0;
  const visit = (level: number, entry: number, place: number): void => {
    countWork(1);
    const dimension: SparseDimension | undefined = dimensions[level];
    if (dimension === undefined) {
      const from = read++ * size;
      const isInside = place >= 0 && place < count;
      if (!isInside || from + size > stored.byteLength) throw fail('places out of bounds');
      dense.set(stored.subarray(from, from + size), place * size);
      return;
    }
    const step = steps[level] ?? 1;
    const { segments, indices } = dimension;
    if (segments === undefined || indices === undefined) {
      for (let i = 0; i < dimension.size; i++) {
        visit(level + 1, entry * dimension.size + i, place + i * step);
      }
      return;
    }
    const [begin = 0, end = 0] = [segments[entry], segments[entry + 1]];
    if (begin > end || end > indices.length) throw fail('segments out of bounds');
    for (let i = begin; i < end; i++) visit(level + 1, i, place + (indices[i] ?? 0) * step);
  };
  visit(0, 0, 0);
  return dense;
}
