import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { type GraphBuilder, sameShape } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { intsAttribute } from '../attributes.ts';
import { windowLists } from './window-adjoint.ts';

/** Every element of a window gets the cotangent; of a mean, divided as the mean was. */
function sumPoolAdjoint(isMean: boolean): AdjointRule {
  return ({ inputs: [x], attributes, cotangent, graph }) => {
    if (x === undefined) return [];
    const sizes = x.shape.slice(2);
    const kernel = intsAttribute(attributes, 'kernel');
    let dy = cotangent;
    if (isMean) {
      const { count_include_pad: _, ...window } = attributes;
      const ones = graph.full([1, 1, ...sizes], x.dtype, 1);
      const means = graph.call('avg_pool', [ones], attributes);
      dy = graph.mul(dy, graph.div(means, graph.call('sum_pool', [ones], window)));
    }
    const { strides, dilations, begins } = windowLists(attributes, sizes.length);
    const planes = graph.dims.mul(x.shape[0] ?? 1, x.shape[1] ?? 1);
    const spread = graph.call(
      'conv_transpose',
      [
        graph.reshape(dy, [planes, 1, ...dy.shape.slice(2)]),
        graph.full([1, 1, ...kernel], x.dtype, 1),
      ],
      { size: sizes, strides, dilations, pads: begins },
    );
    return [graph.reshape(spread, x.shape)];
  };
}

/** The first of the largest elements gets the cotangent. */
const maxPoolAdjoint: AdjointRule = (call) => {
  const [x] = call.inputs;
  if (x === undefined) return [];
  return [isTiling(call.attributes) ? chosenInTiles(call, x) : summedByPlaces(call, x)];
};

/** Returns true if windows stand side by side: each element is in one of them at most. */
function isTiling(attributes: Attributes): boolean {
  const kernel = intsAttribute(attributes, 'kernel');
  const { strides, dilations } = windowLists(attributes, kernel.length);
  return kernel.every((size, axis) => size === strides[axis] && dilations[axis] === 1);
}

/** Each element looks whether its window chose it, within a kernel of its own: nothing is summed. */
function chosenInTiles(call: AdjointCall, x: GraphTensor): GraphTensor {
  const { attributes, cotangent, graph } = call;
  const places = graph.cast(graph.call('max_pool_indices', [x], attributes), 'int32');
  const isChosen = graph.equal(
    spreadOverTiles(call, { from: places, to: x.shape, outside: -1 }),
    graph.places(x.shape, 'int32'),
  );
  return graph.where(
    isChosen,
    spreadOverTiles(call, { from: cotangent, to: x.shape, outside: 0 }),
    0,
  );
}

interface Spread {
  readonly from: GraphTensor;
  /** The shape of the image. */
  readonly to: readonly Dim[];
  /** The value of elements that are in no window. */
  readonly outside: number;
}

/** The element of its window for each element of the image. */
function spreadOverTiles({ attributes, graph }: AdjointCall, { from, to, outside }: Spread) {
  const { dims } = graph;
  const { strides, begins } = windowLists(attributes, to.length - 2);
  const [images = 1, channels = 1, ...counts] = from.shape;
  const split = counts.flatMap((count) => [count, 1]);
  const repeated = counts.flatMap((count, axis) => [count, strides[axis] ?? 1]);
  const covered = counts.map((count, axis) => dims.mul(count, strides[axis] ?? 1));
  const lead = [images, channels];
  const tiles = graph.reshape(
    graph.broadcastTo(graph.reshape(from, [...lead, ...split]), [...lead, ...repeated]),
    [...lead, ...covered],
  );
  if (sameShape(tiles.shape, to)) return tiles;
  const before = covered.map((_, axis) => dims.sub(0, begins[axis] ?? 0));
  const after = covered.map((size, axis) =>
    dims.sub(to[axis + 2] ?? 1, dims.add(size, before[axis] ?? 0)),
  );
  const pads = [0, 0, ...before, 0, 0, ...after];
  return graph.call('pad', [tiles], { pads, value: outside });
}

/** Elements that several windows chose get the sum of their cotangents. */
function summedByPlaces({ attributes, cotangent, graph }: AdjointCall, x: GraphTensor) {
  const places = graph.call('max_pool_indices', [x], attributes);
  const results = countOf(graph, cotangent.shape);
  const sums = graph.call(
    'scatter_nd',
    [
      graph.full([countOf(graph, x.shape)], x.dtype),
      graph.reshape(places, [results, 1]),
      graph.reshape(cotangent, [results]),
    ],
    { reduction: 'add' },
  );
  return graph.reshape(sums, x.shape);
}

function countOf(graph: GraphBuilder, shape: readonly Dim[]): Dim {
  return shape.reduce((product, dim) => graph.dims.mul(product, dim), 1);
}

/** The adjoint of the reduction over the spatial axes. */
const globalPoolAdjoint = (reduction: string): AdjointRule =>
  byExpansion(({ inputs: [x], output, graph }) => {
    if (x === undefined) return output;
    const axes = x.shape.slice(2).map((_, axis) => axis + 2);
    return graph.call(reduction, [x], { axes, keepdims: true });
  });

export const POOL_ADJOINTS = {
  max_pool: maxPoolAdjoint,
  avg_pool: sumPoolAdjoint(true),
  sum_pool: sumPoolAdjoint(false),
  global_max_pool: globalPoolAdjoint('reduce_max'),
  global_avg_pool: globalPoolAdjoint('reduce_mean'),
};
