/** For each pixel along one axis of a picture, the two elements of a mask that it lies between. */
export interface AxisSamples {
  /** The element before it, or the first one. */
  readonly before: Int32Array;
  /** The element behind it, or the last one. */
  readonly after: Int32Array;
  /** The distance from the one before, in elements. */
  readonly shares: Float64Array;
}

/**
 * Where the middles of `count` pixels lie among the middles of `length` elements, of which `toMask` says the place from the edge:
 * as `interpolate_data` of @huggingface/transformers has it, and PyTorch's `interpolate` without aligned corners.
 */
export function axisSamples(
  count: number,
  length: number,
  toMask: (pixels: number) => number,
): AxisSamples {
  const before = new Int32Array(count);
  const after = new Int32Array(count);
  const shares = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const place = toMask(i + 0.5) - 0.5;
    const below = Math.floor(place);
    before[i] = within(below, length);
    after[i] = within(below + 1, length);
    shares[i] = place - below;
  }
  return { before, after, shares };
}

function within(index: number, length: number): number {
  return Math.min(Math.max(index, 0), length - 1);
}

/** How much the four elements around a pixel count: those above, from the left, then those below. */
type CornerWeights = readonly [number, number, number, number];

/** The weights of the four elements, by the distances of the pixel from the first of them. */
export function cornerWeights(across: number, down: number): CornerWeights {
  return [(1 - across) * (1 - down), across * (1 - down), (1 - across) * down, across * down];
}
