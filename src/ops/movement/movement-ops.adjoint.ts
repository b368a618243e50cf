import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import { dimsAttribute, intsAttribute } from '../attributes.ts';
import { axisOf as concatAxisOf } from './concat.ts';
import { gatherAdjoint } from './gather.adjoint.ts';
import type { MovementName } from './movement-ops.ts';
import { padAdjoint } from './pad.adjoint.ts';
import { sliceAdjoint } from './slice.adjoint.ts';

const transposeAdjoint: AdjointRule = ({ attributes, cotangent, graph }) => {
  const perm = intsAttribute(attributes, 'perm');
  const back = perm.map((_, axis) => perm.indexOf(axis));
  return [graph.transpose(cotangent, back)];
};

const reshapeAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => [
  x && graph.reshape(cotangent, x.shape),
];

const broadcastAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => [
  x && graph.sumTo(cotangent, x.shape),
];

const concatAdjoint: AdjointRule = ({ inputs, attributes, cotangent, wants, graph }) => {
  const axis = concatAxisOf(attributes, cotangent.shape.length);
  let from = graph.dims.of(0);
  return inputs.map(({ shape }, input) => {
    const start = from;
    from = graph.dims.add(start, shape[axis] ?? 1);
    return wants(input) ? graph.sliceAxis(cotangent, axis, { from: start, to: from }) : undefined;
  });
};

const tileAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const repeats = dimsAttribute(attributes, 'repeats');
  const split = x.shape.flatMap((dim, axis) => [repeats[axis] ?? 1, dim]);
  const copies = graph.reshape(cotangent, split);
  const sums = graph.sum(
    copies,
    x.shape.map((_, axis) => 2 * axis),
  );
  return [graph.reshape(sums, x.shape)];
};

export const MOVEMENT_ADJOINTS = {
  transpose: transposeAdjoint,
  reshape: reshapeAdjoint,
  broadcast_to: broadcastAdjoint,
  concat: concatAdjoint,
  slice: sliceAdjoint,
  gather: gatherAdjoint,
  pad: padAdjoint,
  full: () => [],
  tile: tileAdjoint,
} satisfies Record<MovementName, Adjoint>;
