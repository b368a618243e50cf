import type { Dim } from '../../../core/dims/dim.ts';

interface ReadSizes {
  /** The operator that read the sizes, such as `reshape_sizes`. */
  readonly op: string;
  readonly sizes: readonly Dim[];
  /** Elements of the integers that it read them from, `?` where only the running program knows. */
  readonly known: readonly Dim[] | undefined;
}

/** Sizes that only the running program knows, those left out that follow from known elements. */
export function withKnownSizes({ op, sizes, known }: ReadSizes): readonly Dim[] {
  const least = LEAST_KNOWN[op];
  if (known === undefined || least === undefined) return sizes;
  // Shapes that are broadcast are aligned at their ends.
  const offset = sizes.length - known.length;
  return sizes.map((size, axis) => {
    const element = known[axis - offset];
    return typeof element === 'number' && element >= least ? element : size;
  });
}

/** From which number on an element is the size itself, whatever the data. */
const LEAST_KNOWN: Readonly<Record<string, number>> = {
  sizes: 0,
  reshape_sizes: 1,
  broadcast_sizes: 2,
};
