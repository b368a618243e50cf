import type { Dim } from '../../core/dims/dim.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';

interface RandomPlace {
  /** Numbers of different streams of one key have nothing to do with each other. */
  readonly stream: number;
  readonly shape: readonly Dim[];
}

/**
 * Bits of a counter-based generator: element i of the result, uint32, is the first word of Threefry-2x32 for the counter
 * (i, 0) under the key `(key, stream)`. So all devices give the same.
 */
export function randomBits(
  graph: GraphBuilder,
  key: GraphTensor,
  { stream, shape }: RandomPlace,
): GraphTensor {
  const first = graph.cast(key, 'uint32');
  const second = graph.scalar(stream, 'uint32');
  const counter = graph.places(shape, 'uint32');
  return graph.call('threefry', [first, second, counter, graph.scalar(0, 'uint32')]);
}

/** Float32 from 0 up to 1, without 1, of the 24 upper of {@link randomBits}. */
export function uniformNumbers(
  graph: GraphBuilder,
  key: GraphTensor,
  place: RandomPlace,
): GraphTensor {
  const bits = randomBits(graph, key, place);
  const upper = graph.call('shift_right', [bits, graph.scalar(8, 'uint32')]);
  return graph.mul(graph.cast(upper, 'float32'), 2 ** -24);
}
