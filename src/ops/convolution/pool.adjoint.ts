import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { intsAttribute } from '../attributes.ts';
import { windowLists } from './window-adjoint.ts';

/** Every element of a window gets the cotangent; of a mean, divided as the mean was. */
export function sumPoolAdjoint(isMean: boolean): AdjointRule {
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
export const maxPoolAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const count = (shape: typeof x.shape) =>
    shape.reduce((product, dim) => graph.dims.mul(product, dim), 1);
  const places = graph.call('max_pool_indices', [x], attributes);
  const results = count(cotangent.shape);
  const sums = graph.call(
    'scatter_nd',
    [
      graph.full([count(x.shape)], x.dtype),
      graph.reshape(places, [results, 1]),
      graph.reshape(cotangent, [results]),
    ],
    { reduction: 'add' },
  );
  return [graph.reshape(sums, x.shape)];
};

/** That of the reduction over the spatial axes. */
export const globalPoolAdjoint = (reduction: string): AdjointRule =>
  byExpansion(({ inputs: [x], output, graph }) => {
    if (x === undefined) return output;
    const axes = x.shape.slice(2).map((_, axis) => axis + 2);
    return graph.call(reduction, [x], { axes, keepdims: true });
  });
