import { normalizeAxis } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { type BatchingRule, inputAt, whole } from './batching.ts';
import { ones } from './batching-rules.ts';

/** Of mapped elements, the same places; of mapped places, those of each row. */
export const gatherRule: BatchingRule = (call) => {
  const { graph, attributes, name, size, output } = call;
  const [x, indices] = [inputAt(call, 0), inputAt(call, 1)];
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
  if (!indices.isMapped) {
    return graph.call(name, [x.tensor, indices.tensor], { ...attributes, axis: axis + 1 });
  }
  if (!x.isMapped) {
    // The axes of the places, the mapped one first among them, stand where the axis was.
    const found = graph.call(name, [x.tensor, indices.tensor], { ...attributes, axis });
    const order = found.shape.map((_, at) => at).filter((at) => at !== axis);
    return graph.transpose(found, [axis, ...order]);
  }
  const toFront = x.shape.map((_, at) => at + 1).filter((at) => at !== axis + 1);
  const turned = graph.transpose(x.tensor, [0, axis + 1, ...toFront]);
  const places = graph.reshape(indices.tensor, [size, ...indices.shape, 1]);
  const found = graph.call('gather_nd', [turned, places], { batch_dims: 1 });
  // The axes before the axis lie behind those of the places.
  const count = indices.shape.length;
  const before = Array.from({ length: axis }, (_, at) => 1 + count + at);
  const own = indices.shape.map((_, at) => 1 + at);
  const after = output.shape.slice(axis + count).map((_, at) => 1 + count + axis + at);
  return graph.transpose(found, [0, ...before, ...own, ...after]);
};

export const gatherNdRule: BatchingRule = (call) => {
  const tensors = call.inputs.map((input) => whole(input, call));
  const count = intAttribute(call.attributes, 'batch_dims') + 1;
  return call.graph.call(call.name, tensors, { ...call.attributes, batch_dims: count });
};

/** The number along the mapped axis is a further index. */
export const scatterNdRule: BatchingRule = (call) => {
  const { graph, name, size, attributes } = call;
  const [x, indices, updates] = [0, 1, 2].map((index) => inputAt(call, index));
  if (x === undefined || indices === undefined || updates === undefined) return undefined;
  const { dtype } = indices.tensor;
  const rows = indices.shape.slice(0, -1);
  const numbers = graph.reshape(graph.cast(graph.count(size), dtype), [
    size,
    ...ones(rows.length + 1),
  ]);
  const places = graph.concat(
    [graph.broadcastTo(numbers, [size, ...rows, 1]), whole(indices, call)],
    rows.length + 1,
  );
  return graph.call(name, [whole(x, call), places, whole(updates, call)], attributes);
};
