import type { IndexMap, IndexMapContext, IndexSource } from '../../../ops/define-op.ts';

/** Layouts that the planner may use for the last axes of an injective operator. */
export interface MapLayout {
  /**
   * Axes at the end, in the output and in every source, that may be counted as one because each
   * source reads them at the output's own coordinates. 0: the map uses every coordinate.
   */
  readonly trailingAxes: number;
  /** Product of the output's trailing axes; 1 for none. */
  readonly innerSize: number;
  /** Whether four adjacent output elements are four adjacent, aligned elements of one source. */
  readonly isVectorizable: boolean;
}

/**
 * Finds out by asking the map where it reads with placeholders for coordinates: an axis that comes
 * back as its placeholder, and nowhere else, is passed through unchanged.
 */
export function analyzeIndexMap(
  map: IndexMap,
  context: Pick<IndexMapContext, 'attributes' | 'inputs' | 'output'>,
): MapLayout {
  const { inputs, output } = context;
  const rank = output.shape.length;
  const coords = output.shape.map((_, axis) => `axis_${axis}_`);
  const sources = map.sources({
    ...context,
    coords,
    param: () => 'param_',
    integer: (input, at) => `integer_${input}(${at.join(' ')})`,
  });
  const isPassed = (fromEnd: number) =>
    sources.every((source) => passesThrough(source, coords.at(-fromEnd) ?? '', fromEnd));
  const sameSize = (fromEnd: number) =>
    sources.every(({ input }) => inputs[input]?.shape.at(-fromEnd) === output.shape.at(-fromEnd));
  let trailingAxes = 0;
  while (
    trailingAxes < rank &&
    isPassed(trailingAxes + 1) &&
    (trailingAxes === 0 || sameSize(trailingAxes))
  ) {
    trailingAxes++;
  }
  // Axes can be merged only when all but the outermost of them have equal sizes.
  const innerSize = output.shape.slice(rank - trailingAxes).reduce((a, b) => a * b, 1);
  const sourceSizes = sources.map(({ input }) =>
    (inputs[input]?.shape ?? []).slice(-trailingAxes).reduce((a, b) => a * b, 1),
  );
  const isVectorizable =
    trailingAxes > 0 && [innerSize, ...sourceSizes].every((size) => size % 4 === 0);
  return { trailingAxes, innerSize, isVectorizable };
}

function passesThrough(source: IndexSource, coord: string, fromEnd: number): boolean {
  if (coord === '' || source.coords.at(-fromEnd) !== coord) return false;
  const others = source.coords.filter((_, axis) => axis !== source.coords.length - fromEnd);
  return ![...others, source.when ?? ''].some((text) => text.includes(coord));
}
