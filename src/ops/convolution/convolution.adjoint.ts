import type { AdjointRule } from '../adjoint/adjoint.ts';
import { biasCotangent, weightCotangent, windowLists } from './window-adjoint.ts';

/** Transposed convolution of the cotangent by the same weights, and a convolution by it. */
export const convolutionAdjoint: AdjointRule = ({
  inputs,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
  const [x, w] = inputs;
  if (x === undefined || w === undefined) return [];
  const window = windowLists(attributes, x.shape.length - 2);
  const { strides, dilations, begins, groups } = window;
  const image = (): ReturnType<typeof graph.call> =>
    graph.call('conv_transpose', [cotangent, w], {
      size: x.shape.slice(2),
      strides,
      dilations,
      pads: begins,
      groups,
    });
  return [
    wants(0) ? image() : undefined,
    wants(1)
      ? weightCotangent(graph, { image: x, result: cotangent, weights: w }, window)
      : undefined,
    wants(2) ? biasCotangent(graph, cotangent) : undefined,
  ];
};
