import type { Dim } from '../../core/dims/dim.ts';
import { elementByteLength } from '../../core/tensor/dtype.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';

/** Bytes of a tensor in storage: whole words, and a word for each bool. */
export function byteLengthOf({ dtype, shape }: TensorType): Dim {
  const known = shape.reduce<number>(
    (n, dim) => (typeof dim === 'number' ? n * dim : n),
    elementByteLength(dtype),
  );
  const unknown = shape.filter((dim) => typeof dim !== 'number');
  const bytes = unknown.reduce<Dim>((left, right) => ({ op: 'mul', left, right }), known);
  if (known % 4 === 0) return bytes;
  if (typeof bytes === 'number') return Math.ceil(bytes / 4) * 4;
  const rounded: Dim = { op: 'add', left: bytes, right: 3 };
  return { op: 'mul', left: { op: 'floordiv', left: rounded, right: 4 }, right: 4 };
}
