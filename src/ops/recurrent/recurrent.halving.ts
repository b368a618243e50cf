import type { ExpandedCall, Half, Halving } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { stringAttribute } from '../attributes.ts';
import { CELLS, cellOf, directionCount } from './recurrent-cell.ts';

/** The second call in the order of steps begins with the states that the first ends with. */
export const recurrentHalving: Halving = { axes: [0], apart: directionsApart, halves };

function directionsApart({ inputs, attributes, graph }: ExpandedCall): GraphTensor | undefined {
  const [x, r, initial, vectors, ...lengths] = inputs;
  if (directionCount(attributes) === 1) return undefined;
  if (x === undefined || r === undefined || initial === undefined) return undefined;
  const { activations: perCell, states } = CELLS[cellOf(attributes)];
  const [steps = 1, batch = 1, width = 1] = x.shape;
  const own = graph.dims.floordiv(width, 2);
  const row = (of: GraphTensor, index: number) =>
    graph.sliceAxis(of, 0, { from: index, to: index + 1 });
  const directions = ['forward', 'reverse'].map((direction, d) => {
    const columns = graph.at(graph.reshape(x, [steps, batch, 2, own]), 2, d);
    const begin = Array.from({ length: states }, (_, state) => row(initial, 2 * state + d));
    const rest = vectors === undefined ? [] : [row(vectors, d), ...lengths];
    const lists = ['activations', 'alphas', 'betas'].map((name) => {
      const value = attributes[name];
      const list = Array.isArray(value) ? value : [];
      return [name, list.slice(d * perCell, (d + 1) * perCell)] as const;
    });
    return graph.call('recurrent', [columns, row(r, d), graph.concat(begin, 0), ...rest], {
      ...attributes,
      ...Object.fromEntries(lists),
      direction,
    });
  });
  return graph.concat(directions, 1);
}

function halves(
  { inputs, output, attributes, graph }: ExpandedCall,
  { first, run }: Half,
): GraphTensor {
  const [x, r, initial, vectors, lengths] = inputs;
  if (x === undefined || r === undefined || initial === undefined) return output;
  const { dims } = graph;
  const others = dims.sub(x.shape[0] ?? 1, first);
  const call = (part: GraphTensor, begin: GraphTensor, isFirst: boolean): GraphTensor => {
    const own = lengths && (isFirst ? lengths : lengthsAfter(lengths, { first, graph }));
    const rest = [vectors, own].flatMap((input) => input ?? []);
    return run([part, r, begin, ...rest]);
  };
  const parts = [
    { rows: graph.sliceAxis(x, 0, { to: first }), count: first, isFirst: true },
    { rows: graph.sliceAxis(x, 0, { from: first }), count: others, isFirst: false },
  ];
  const isReverse = stringAttribute(attributes, 'direction') === 'reverse';
  const results: GraphTensor[] = [];
  let states = initial;
  for (const { rows, count, isFirst } of isReverse ? parts.toReversed() : parts) {
    const result = call(rows, states, isFirst);
    results.push(graph.sliceAxis(result, 0, { to: count }));
    states = graph.reshape(graph.sliceAxis(result, 0, { from: count }), initial.shape);
  }
  const last = graph.reshape(states, [initial.shape[0] ?? 1, 1, ...initial.shape.slice(1)]);
  return graph.concat([...(isReverse ? results.toReversed() : results), last], 0);
}

/** The lengths of sequences without their first steps, as many as `first`. */
function lengthsAfter(
  lengths: GraphTensor,
  { first, graph }: Pick<Half, 'first'> & Pick<ExpandedCall, 'graph'>,
): GraphTensor {
  const left = graph.sub(lengths, graph.size([first], lengths.dtype));
  return graph.call('maximum', [left, graph.scalar(0, lengths.dtype)]);
}
