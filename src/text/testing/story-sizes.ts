/** Sizes of the story model: a decoder like Llama's. Rows of all weights are multiples of 256 long. */
export interface StorySizes {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly inner: number;
  readonly epsilon: number;
  readonly theta: number;
}

export const STORY_SIZES: StorySizes = {
  vocabulary: 512,
  width: 256,
  layers: 3,
  heads: 4,
  keyHeads: 2,
  inner: 256,
  epsilon: 1e-5,
  theta: 10_000,
};

export const headWidth = ({ width, heads }: StorySizes): number => width / heads;

/** Every weight by its name in the programs; matrices are [inputs, outputs]. */
export function weightShapes(sizes: StorySizes): ReadonlyMap<string, readonly number[]> {
  const { vocabulary, width, inner, keyHeads } = sizes;
  const keys = keyHeads * headWidth(sizes);
  const layer = [
    ['attention_norm', [width]],
    ['query', [width, width]],
    ['key', [width, keys]],
    ['value', [width, keys]],
    ['output', [width, width]],
    ['feed_norm', [width]],
    ['gate', [width, inner]],
    ['up', [width, inner]],
    ['down', [inner, width]],
  ] as const;
  const layers = Array.from({ length: sizes.layers }, (_, i) =>
    layer.map(([name, shape]) => [`l${i}.${name}`, shape] as const),
  );
  return new Map<string, readonly number[]>([
    ['embedding', [vocabulary, width]],
    ...layers.flat(),
    ['norm', [width]],
  ]);
}
