import type { Dim } from '../../core/dims/dim.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';

/** An element of an axis for each place, and its share. */
export interface SampleTap {
  /** Places as floats; those outside of the axis read zero. */
  readonly place: GraphTensor;
  readonly weight: GraphTensor;
}

interface Sampled {
  /** (…, planes, sizes), one size for each list of taps. */
  readonly image: GraphTensor;
  /** Axes of the image before its sizes. */
  readonly leading: number;
  /** For each of the sizes; places have the leading axes of the image, or 1, and one more. */
  readonly taps: readonly (readonly SampleTap[])[];
}

/** The sum over all combinations of taps of the axes: (…, planes, places). */
export function sampleBetween(graph: GraphBuilder, { image, leading, taps }: Sampled): GraphTensor {
  const sizes = image.shape.slice(leading);
  const total = sizes.reduce<Dim>((product, dim) => graph.dims.mul(product, dim), 1);
  const flat = graph.reshape(image, [...image.shape.slice(0, leading), total]);
  let sum: GraphTensor | undefined;
  for (const chosen of combinations(taps)) {
    const term = oneSample(graph, { flat, sizes, chosen });
    sum = sum === undefined ? term : graph.add(sum, term);
  }
  return sum ?? flat;
}

function oneSample(
  graph: GraphBuilder,
  {
    flat,
    sizes,
    chosen,
  }: {
    readonly flat: GraphTensor;
    readonly sizes: readonly Dim[];
    readonly chosen: readonly SampleTap[];
  },
): GraphTensor {
  let index: GraphTensor | undefined;
  let weight: GraphTensor | undefined;
  let outside: GraphTensor | undefined;
  for (const [axis, tap] of chosen.entries()) {
    const size = graph.size([sizes[axis] ?? 1], tap.place.dtype);
    const isBelow = graph.less(tap.place, 0);
    const limit = typeof size === 'number' ? graph.scalar(size, tap.place.dtype) : size;
    const isOut = graph.where(isBelow, isBelow, graph.lessEqual(limit, tap.place));
    index = index === undefined ? tap.place : graph.add(graph.mul(index, limit), tap.place);
    weight = weight === undefined ? tap.weight : graph.mul(weight, tap.weight);
    outside = outside === undefined ? isOut : graph.where(outside, outside, isOut);
  }
  if (index === undefined || weight === undefined || outside === undefined) return flat;
  const share = graph.where(outside, 0, weight);
  const places = graph.cast(graph.where(outside, 0, index), 'int64');
  const count = places.shape.at(-1) ?? 1;
  const all = graph.broadcastTo(places, [...flat.shape.slice(0, -1), count]);
  const axis = flat.shape.length - 1;
  return graph.mul(graph.call('gather_elements', [flat, all], { axis }), share);
}

function combinations<T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return lists.reduce<readonly (readonly T[])[]>(
    (found, list) => found.flatMap((chosen) => list.map((item) => [...chosen, item])),
    [[]],
  );
}

/** The two elements around a place, with shares that its distance decides. */
export function linearTaps(graph: GraphBuilder, at: GraphTensor): readonly SampleTap[] {
  const below = graph.unary('floor', at);
  const share = graph.sub(at, below);
  return [
    { place: below, weight: graph.sub(graph.scalar(1, at.dtype), share) },
    { place: graph.add(below, 1), weight: share },
  ];
}
