import type { AdjointRule } from '../adjoint/adjoint.ts';
import { biasCotangent, convolve, weightCotangent, windowLists } from './window-adjoint.ts';

/** A convolution of the cotangent by the same weights. */
export const convTransposeAdjoint: AdjointRule = ({
  inputs,
  output,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
  const [x, w] = inputs;
  if (x === undefined || w === undefined) return [];
  const { dims } = graph;
  const given = windowLists(attributes, x.shape.length - 2);
  const sizes = x.shape.slice(2);
  // So much padding that every element of x has its window.
  const ends = sizes.map((size, axis) => {
    const last = dims.mul(dims.sub(size, 1), given.strides[axis] ?? 1);
    const reach = dims.mul(dims.sub(w.shape[axis + 2] ?? 1, 1), given.dilations[axis] ?? 1);
    const inside = dims.add(output.shape[axis + 2] ?? 1, given.begins[axis] ?? 0);
    return dims.max(dims.sub(dims.add(dims.add(last, reach), 1), inside), 0);
  });
  const window = { ...given, ends };
  const image = () => {
    let found = convolve(graph, [cotangent, w], window);
    for (const [axis, size] of sizes.entries()) {
      found = graph.sliceAxis(found, axis + 2, { to: size });
    }
    return found;
  };
  const weights = () => weightCotangent(graph, { image: cotangent, result: x, weights: w }, window);
  return [
    wants(0) ? image() : undefined,
    wants(1) ? weights() : undefined,
    wants(2) ? biasCotangent(graph, cotangent) : undefined,
  ];
};
