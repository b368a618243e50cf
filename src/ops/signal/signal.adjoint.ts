import { byExpansion } from '../adjoint/by-expansion.ts';
import { dimsAttribute } from '../attributes.ts';
import { axisOf } from './frames.ts';

/** Elements chosen by indices. */
export const framesAdjoint = byExpansion(({ inputs: [x], output, attributes, graph }) => {
  if (x === undefined) return output;
  const axis = axisOf(attributes, x.shape.length);
  const [count = 1, size = 1] = output.shape.slice(axis, axis + 2);
  const step = graph.size([dimsAttribute(attributes, 'step')[0] ?? 1], 'int64');
  const starts = graph.mul(graph.reshape(graph.count(count), [count, 1]), step);
  const places = graph.add(starts, graph.reshape(graph.count(size), [1, size]));
  return graph.call('gather', [x, places], { axis });
});
