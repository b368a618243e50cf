import type { AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { reducedAxes } from './reduce.ts';

interface Reduced {
  readonly graph: GraphBuilder;
  readonly x: GraphTensor;
  readonly axes: readonly number[];
  /** The result and its cotangent, with the reduced axes as 1. */
  readonly y: GraphTensor;
  readonly dy: GraphTensor;
}

const RULES = {
  sum: ({ graph, x, dy }: Reduced) => graph.broadcastTo(dy, x.shape),
  mean({ graph, x, axes, dy }: Reduced) {
    const count = graph.size(
      axes.map((axis) => x.shape[axis] ?? 1),
      x.dtype,
    );
    return graph.broadcastTo(graph.div(dy, count), x.shape);
  },
  prod: ({ graph, x, axes, dy }: Reduced) => graph.mul(productOfOthers(graph, x, axes), dy),
  max: shareAmongEqual,
  min: shareAmongEqual,
};

/** Of a reduction by its kind; elements that tie for an extremum share its cotangent. */
export function reduceAdjoint(kind: keyof typeof RULES): AdjointRule {
  return ({ inputs: [x], output, attributes, cotangent, graph }) => {
    if (x === undefined) return [];
    const axes = [...reducedAxes(attributes, x.shape.length, `reduce_${kind}`)];
    const kept = x.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    const [y, dy] = [graph.reshape(output, kept), graph.reshape(cotangent, kept)];
    return [axes.length === 0 ? dy : RULES[kind]({ graph, x, axes, y, dy })];
  };
}

function shareAmongEqual({ graph, x, axes, y, dy }: Reduced): GraphTensor {
  const isExtremum = graph.equal(x, y);
  const count = graph.sum(graph.cast(isExtremum, x.dtype), axes);
  return graph.where(isExtremum, graph.div(dy, count), 0);
}

/** Of what comes before and after, so that it is right where elements are zero. */
function productOfOthers(
  graph: GraphBuilder,
  x: GraphTensor,
  axes: readonly number[],
): GraphTensor {
  const kept = x.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
  const perm = [...kept, ...axes];
  const moved = graph.transpose(x, perm);
  const length = axes.reduce<(typeof x.shape)[number]>(
    (product, axis) => graph.dims.mul(product, x.shape[axis] ?? 1),
    1,
  );
  const rows = graph.reshape(moved, [...kept.map((axis) => x.shape[axis] ?? 1), length]);
  const axis = kept.length;
  const run = { axis, product: true, exclusive: true };
  const before = graph.call('cumulative', [rows], { ...run, reverse: false });
  const after = graph.call('cumulative', [rows], { ...run, reverse: true });
  const back = perm.map((_, i) => perm.indexOf(i));
  return graph.transpose(graph.reshape(graph.mul(before, after), moved.shape), back);
}
