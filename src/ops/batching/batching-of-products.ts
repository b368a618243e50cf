import { boolAttribute, floatAttribute } from '../attributes.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { ones } from './batching-rules.ts';
import {
  type BatchedCall,
  type BatchedInput,
  type BatchingRule,
  inputAt,
  mapsOnly,
} from './batching.ts';

/** Matrix products: the mapped axis is a further axis of batches, or of rows where one matrix is the same for all. */
export const matmulRule: BatchingRule = (call) => {
  const { graph, name, output, size, attributes } = call;
  const [a, b] = [inputAt(call, 0), inputAt(call, 1)];
  if (!mapsOnly(call, 0, 1) || call.inputs.length > 2) return undefined;
  if (!b.isMapped && b.shape.length === 2) {
    return graph.call(name, [a.tensor, b.tensor], attributes);
  }
  const [left, right] = [matrixOf(a, 'row'), matrixOf(b, 'column')];
  const rank = Math.max(left.length, right.length);
  const aligned = (
    { tensor, isMapped }: BatchedInput,
    shape: readonly BatchedInput['shape'][number][],
  ) => graph.reshape(tensor, isMapped ? [size, ...ones(rank - shape.length), ...shape] : shape);
  const product = graph.call(name, [aligned(a, left), aligned(b, right)], attributes);
  return graph.reshape(product, [size, ...output.shape]);
};

/** The shape of a vector as a matrix. */
function matrixOf({ shape }: BatchedInput, as: 'row' | 'column'): BatchedInput['shape'] {
  if (shape.length !== 1) return shape;
  return as === 'row' ? [1, ...shape] : [...shape, 1];
}

/** alpha a b + beta c, written out. */
export const gemmRule: BatchingRule = (call) => {
  const { graph, attributes } = call;
  const of = (index: number, isTransposed: boolean): BatchedInput => {
    const input = inputAt(call, index);
    if (!isTransposed) return input;
    const tensor = graph.transposeLast(input.tensor);
    return { ...input, tensor, shape: input.shape.toReversed() };
  };
  const a = of(0, boolAttribute(attributes, 'trans_a'));
  const b = of(1, boolAttribute(attributes, 'trans_b'));
  const product = matmulRule({ ...call, name: 'matmul', inputs: [a, b], attributes: {} });
  if (product === undefined) return undefined;
  const scaled = graph.mul(wholeProduct(product, call), floatAttribute(attributes, 'alpha'));
  const c = call.inputs[2];
  if (c === undefined) return scaled;
  const { size } = call;
  const shape = [...ones(2 - c.shape.length), ...c.shape];
  const added = c.isMapped ? graph.reshape(c.tensor, [size, ...shape]) : c.tensor;
  return graph.add(scaled, graph.mul(added, floatAttribute(attributes, 'beta')));
};

/** A product of two operands that are the same for all has no mapped axis. */
function wholeProduct(
  product: GraphTensor,
  { inputs, graph, size, output }: BatchedCall,
): GraphTensor {
  const isMapped = inputs.slice(0, 2).some((input) => input.isMapped);
  return isMapped ? product : graph.broadcastTo(product, [size, ...output.shape]);
}
