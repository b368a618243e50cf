import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { requireConstantTable } from '../adjoint/table-without-derivative.ts';
import { dimsAttribute, boolAttribute, intAttribute } from '../attributes.ts';
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

/** A product by the matrix of turns, real and imaginary parts apart. */
const expanded = byExpansion(({ inputs, output, attributes, graph }) => {
  const [x, table] = inputs;
  if (x === undefined || table === undefined) return output;
  const { dims } = graph;
  const given = intAttribute(attributes, 'axis');
  const last = x.shape.length - 1;
  const axis = normalizeAxis(given < 0 ? given + 1 : given, last, 'dft');
  const isInverse = boolAttribute(attributes, 'inverse');
  const isHermitian = isInverse && boolAttribute(attributes, 'onesided');
  const [length = 1] = table.shape;
  const half = dims.add(dims.floordiv(length, 2), 1);
  const read = dims.min(x.shape[axis] ?? 1, isHermitian ? half : length);
  const outSize = output.shape[axis] ?? 1;
  const size = graph.size([length], 'int64');
  const limit = typeof size === 'number' ? graph.scalar(size, 'int64') : size;
  const [from, to] = [
    graph.reshape(graph.count(read), [read, 1]),
    graph.reshape(graph.count(outSize), [1, outSize]),
  ];
  const turns = graph.call('mod', [graph.mul(from, to), limit]);
  const wave = (part: number) =>
    graph.call('gather', [graph.at(table, 1, part), turns], { axis: 0 });
  const [cosine, forward] = [wave(0), wave(1)];
  const sine = isInverse ? forward : graph.neg(forward);
  // The axis last, so that it is that of a product.
  const perm = Array.from({ length: last }, (_, i) => i).filter((i) => i !== axis);
  const order = [...perm, axis];
  const back = order.map((_, i) => order.indexOf(i));
  const parts = [0, 1].map((part) => {
    if (part === 1 && x.shape[last] === 1) return undefined;
    const rows = graph.transpose(graph.at(x, last, part), order);
    const kept = graph.sliceAxis(rows, last - 1, { to: read });
    if (!isHermitian) return kept;
    const index = graph.count(read);
    const isEdge = graph.equal(graph.call('mod', [graph.mul(index, 2), limit]), 0);
    return graph.mul(kept, graph.where(isEdge, graph.scalar(1, x.dtype), 2));
  });
  const [a, b] = parts;
  if (a === undefined) return output;
  const product = (of: typeof a, by: typeof a) => graph.matmul(of, by);
  const minus = b && product(b, sine);
  const real = minus === undefined ? product(a, cosine) : graph.sub(product(a, cosine), minus);
  const plus = b && product(b, cosine);
  const imaginary = plus === undefined ? product(a, sine) : graph.add(product(a, sine), plus);
  const scaled = (isHermitian ? [real] : [real, imaginary]).map((part) => {
    const whole = graph.transpose(part, back);
    const column = graph.reshape(whole, [...whole.shape, 1]);
    return isInverse ? graph.div(column, graph.size([length], x.dtype)) : column;
  });
  return graph.concat(scaled, last);
});

export const dftAdjoint: AdjointRule = (call) => {
  requireConstantTable(call, 1, 'dft: input twiddles');
  return expanded(call);
};
