import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { stringAttribute } from '../attributes.ts';

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
