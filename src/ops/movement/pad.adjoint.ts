import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { dimsAttribute, stringAttribute } from '../attributes.ts';

/** Takes away what was added, and adds zeros for what was taken away. */
const constantAdjoint: AdjointRule = ({ attributes, cotangent, graph }) => {
  const pads = dimsAttribute(attributes, 'pads').map((dim) =>
    graph.dims.sub(0, graph.dims.of(dim)),
  );
  return [graph.call('pad', [cotangent], { pads })];
};

/** One axis after the other, elements chosen by indices that are padded in the same way. */
const choosingAdjoint = byExpansion(({ inputs: [x], output, attributes, graph }) => {
  if (x === undefined) return output;
  const pads = dimsAttribute(attributes, 'pads');
  const mode = stringAttribute(attributes, 'mode');
  let result = x;
  for (const [axis, dim] of x.shape.entries()) {
    const around = [pads[axis] ?? 0, pads[axis + x.shape.length] ?? 0];
    if (around.every((count) => count === 0)) continue;
    const places = graph.call('pad', [graph.count(dim)], { pads: around, mode });
    result = graph.call('gather', [result, places], { axis });
  }
  return result;
});

export const padAdjoint: AdjointRule = (call) =>
  (stringAttribute(call.attributes, 'mode') === 'constant' ? constantAdjoint : choosingAdjoint)(
    call,
  );
