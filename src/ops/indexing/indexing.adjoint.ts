import type { AdjointRule, AdjointCall } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { axisOf } from './tensor-scatter.ts';

/** Adds each element of the cotangent to where it was read. */
export const gatherElementsAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const zeros = graph.full(x.shape, x.dtype);
  const how = { ...attributes, reduction: 'add' };
  return [graph.call('scatter_elements', [zeros, indices, cotangent], how)];
};

/** Adds each slice of the cotangent to where it was read. */
export const gatherNdAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const places = withBatches(graph, indices, intAttribute(attributes, 'batch_dims'));
  const zeros = graph.full(x.shape, x.dtype);
  return [graph.call('scatter_nd', [zeros, places, cotangent], { reduction: 'add' })];
};

/** Tuples that begin with the coordinates of the axes that both inputs share. */
function withBatches(graph: GraphBuilder, indices: GraphTensor, batch: number): GraphTensor {
  if (batch === 0) return indices;
  const shape = indices.shape.with(indices.shape.length - 1, 1);
  const coordinates = shape.slice(0, batch).map((dim, axis) => {
    const along = shape.map((_, i) => (i === axis ? dim : 1));
    return graph.broadcastTo(graph.reshape(graph.count(dim), along), shape);
  });
  return graph.concat([...coordinates, graph.cast(indices, 'int64')], shape.length - 1);
}

/**
 * Elements that updates replace get no cotangent; the updates get that of the places where they
 * went.
 */
export const tensorScatterAdjoint: AdjointRule = ({
  inputs,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
  const [x, updates, begins] = inputs;
  if (x === undefined || updates === undefined || begins === undefined) return [];
  const zeros = graph.full(updates.shape, updates.dtype);
  const kept = graph.call('tensor_scatter', [cotangent, zeros, begins], attributes);
  if (!wants(1)) return [kept];
  const axis = axisOf(attributes, x.shape.length);
  const along = updates.shape.map((dim, i) => (i === axis ? dim : 1));
  const each = updates.shape.map((dim, i) => (i === 0 ? dim : 1));
  const steps = graph.reshape(graph.count(updates.shape[axis] ?? 1), along);
  const places = graph.add(graph.reshape(graph.cast(begins, 'int64'), each), steps);
  const size = graph.size([x.shape[axis] ?? 1], 'int64');
  const limit = typeof size === 'number' ? graph.scalar(size, 'int64') : size;
  // A negative index would count from the end, and one at the end reads zero.
  const inside = boolAttribute(attributes, 'circular')
    ? graph.call('mod', [places, limit])
    : graph.where(graph.less(places, 0), limit, places);
  const all = graph.broadcastTo(inside, updates.shape);
  return [kept, graph.call('gather_elements', [cotangent, all], { axis })];
};

/** Sums of the cotangent where the index is not, and where it is. */
export const oneHotAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
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
export const reverseSequenceAdjoint: AdjointRule = ({
  inputs: [, lengths],
  attributes,
  cotangent,
  graph,
}) =>
  lengths === undefined ? [] : [graph.call('reverse_sequence', [cotangent, lengths], attributes)];

export const triluAdjoint: AdjointRule = ({ inputs: [, k], attributes, cotangent, graph }) =>
  k === undefined ? [] : [graph.call('trilu', [cotangent, k], attributes)];

/** A scatter and the gather at the same places. */
interface Places {
  readonly graph: GraphBuilder;
  readonly x: GraphTensor;
  readonly updates: GraphTensor;
  readonly y: GraphTensor;
  readonly dy: GraphTensor;
  /** The elements of a tensor like x where the updates go. */
  readonly read: (from: GraphTensor) => GraphTensor;
  readonly write: (to: GraphTensor, what: GraphTensor, reduction: string) => GraphTensor;
}

type Cotangents = readonly [x: GraphTensor, updates: GraphTensor];

const RULES: Readonly<Record<string, (places: Places) => Cotangents>> = {
  none({ graph, updates, x, dy, read, write }) {
    const zeros = graph.full(updates.shape, updates.dtype);
    // Of several updates of one place the one that is there gets the cotangent.
    const numbers = graph.places(updates.shape, 'int32');
    const winners = write(graph.full(x.shape, 'int32', -1), numbers, 'none');
    const isThere = graph.equal(read(winners), numbers);
    return [write(dy, zeros, 'none'), graph.where(isThere, read(dy), 0)];
  },
  add: ({ dy, read }) => [dy, read(dy)],
  mul({ graph, x, updates, dy, read, write }) {
    // The product of all others, from that of what is not zero and the number of zeros.
    const [noX, noUpdate] = [graph.equal(x, 0), graph.equal(updates, 0)];
    const product = write(graph.where(noX, 1, x), graph.where(noUpdate, 1, updates), 'mul');
    const zeros = write(graph.cast(noX, x.dtype), graph.cast(noUpdate, x.dtype), 'add');
    const [around, count] = [read(product), read(zeros)];
    const ofZero = graph.where(graph.equal(count, 1), around, 0);
    const others = graph.div(around, graph.where(noUpdate, 1, updates));
    const ofOther = graph.where(graph.equal(count, 0), others, 0);
    const slope = graph.where(noUpdate, ofZero, ofOther);
    return [write(dy, updates, 'mul'), graph.mul(read(dy), slope)];
  },
  max: shareAmongEqual,
  min: shareAmongEqual,
};

/** Elements that tie for an extremum share its cotangent. */
function shareAmongEqual({ graph, x, updates, y, dy, read, write }: Places): Cotangents {
  const [isX, isUpdate] = [graph.equal(x, y), graph.equal(updates, read(y))];
  const count = write(graph.cast(isX, x.dtype), graph.cast(isUpdate, x.dtype), 'add');
  const share = graph.div(dy, count);
  return [graph.where(isX, share, 0), graph.where(isUpdate, read(share), 0)];
}

function scatterAdjoint(scatter: string, gather: string): AdjointRule {
  return (call: AdjointCall) => {
    const { inputs, output, attributes, cotangent, graph } = call;
    const [x, indices, updates] = inputs;
    if (x === undefined || indices === undefined || updates === undefined) return [];
    const { reduction: _, ...where } = attributes;
    const [dx, du] =
      RULES[stringAttribute(attributes, 'reduction')]?.({
        graph,
        x,
        updates,
        y: output,
        dy: cotangent,
        read: (from) => graph.call(gather, [from, indices], where),
        write: (to, what, reduction) =>
          graph.call(scatter, [to, indices, what], { ...where, reduction }),
      }) ?? [];
    return [dx, undefined, du];
  };
}

export const scatterElementsAdjoint = scatterAdjoint('scatter_elements', 'gather_elements');
export const scatterNdAdjoint = scatterAdjoint('scatter_nd', 'gather_nd');
