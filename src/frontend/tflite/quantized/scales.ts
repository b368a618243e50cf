import type { Expr } from '../../../compiler/ir/expr.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { LiteNode } from '../lite-node.ts';
import type { LiteTensor, Quantization } from '../reader/read-model.ts';

/** How the codes of a tensor stand for numbers. Throws FormatError for one that has no scale. */
export function quantizationOf(node: LiteNode, tensor: LiteTensor | undefined): Quantization {
  const { quantization, name = '' } = tensor ?? {};
  if (quantization !== undefined) return quantization;
  throw node.malformed(`tensor "${name}" of integers without a scale`, 'a scale and a zero point');
}

/** Scale and zero point of the codes `x` of a tensor, in shapes that broadcast to it. */
export function scalesOf(
  node: LiteNode,
  x: Expr,
  tensor: LiteTensor | undefined,
): { readonly scale: Expr; readonly zero: Expr } {
  const { scale, zero, axis } = quantizationOf(node, tensor);
  const { dtype, shape } = node.type(x);
  const count = scale.length;
  const isOne = count === 1;
  if (!isOne && shape[node.axis(axis, shape.length)] !== count) {
    throw node.malformed(`${count} scales of axis ${axis}`, 'one, or one for each element');
  }
  const wide = isOne ? [] : [count, ...shape.slice(axis + 1).map(() => 1)];
  const stored = dtype === 'int4' ? 'int8' : dtype;
  return {
    scale: node.constant(HostTensor.from('float32', wide, scale)),
    zero: node.constant(HostTensor.from(stored, wide, zero)),
  };
}
