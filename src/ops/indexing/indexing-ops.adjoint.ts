import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import { gatherElementsAdjoint } from './gather-elements.adjoint.ts';
import { gatherNdAdjoint } from './gather-nd.adjoint.ts';
import type { IndexingName } from './indexing-ops.ts';
import { scatterElementsAdjoint, scatterNdAdjoint } from './scatter.adjoint.ts';
import { tensorScatterAdjoint } from './tensor-scatter.adjoint.ts';

/** Sums of the cotangent where the index is not, and where it is. */
const oneHotAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [indices, values] = inputs;
  if (indices === undefined || values === undefined) return [];
  const hot = (off: number, on: number) => {
    const pair = graph.concat(
      [off, on].map((x) => graph.reshape(graph.scalar(x, values.dtype), [1])),
      0,
    );
    const mask = graph.call('one_hot', [indices, pair], attributes);
    const axes = mask.shape.map((_, axis) => axis);
    return graph.reshape(graph.sum(graph.mul(cotangent, mask), axes), [1]);
  };
  return [undefined, graph.concat([hot(1, 0), hot(0, 1)], 0)];
};

/** Reversed again, every element is where it was. */
const reverseSequenceAdjoint: AdjointRule = ({
  inputs: [, lengths],
  attributes,
  cotangent,
  graph,
}) =>
  lengths === undefined ? [] : [graph.call('reverse_sequence', [cotangent, lengths], attributes)];

const triluAdjoint: AdjointRule = ({ inputs: [, k], attributes, cotangent, graph }) =>
  k === undefined ? [] : [graph.call('trilu', [cotangent, k], attributes)];

export const INDEXING_ADJOINTS = {
  gather_elements: gatherElementsAdjoint,
  gather_nd: gatherNdAdjoint,
  one_hot: oneHotAdjoint,
  reverse_sequence: reverseSequenceAdjoint,
  tensor_scatter: tensorScatterAdjoint,
  trilu: triluAdjoint,
  check_indices: 'discrete',
  scatter_elements: scatterElementsAdjoint,
  scatter_nd: scatterNdAdjoint,
  top_k: 'discrete',
} satisfies Record<IndexingName, Adjoint>;
