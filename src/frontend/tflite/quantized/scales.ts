import type { Expr } from '../../../compiler/ir/expr.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { LiteNode } from '../lite-node.ts';
import type { LiteTensor, Quantization } from '../reader/read-model.ts';

/** How the codes of a tensor stand for numbers. Throws FormatError for one that has no scale. */
function quantizationOf(node: LiteNode, tensor: LiteTensor | undefined): Quantization {
  const { quantization, name = '' } = tensor ?? {};
  if (quantization !== undefined) return quantization;
  throw node.malformed(`tensor "${name}" of integers without a scale`, 'a scale and a zero point');
}

/** Scale and zero point of the codes of a tensor, in shapes that broadcast to `x`: of each element of an axis where there are several. */
export function scalesOf(
  node: LiteNode,
  x: Expr,
  tensor: LiteTensor | undefined,
  codes: DType = node.type(x).dtype,
): { readonly scale: Expr; readonly zero: Expr } {
  const { scale, zero, axis } = quantizationOf(node, tensor);
  const shape = node.shape(x);
  const count = scale.length;
  const isOne = count === 1;
  if (!isOne && shape[node.axis(axis, shape.length)] !== count) {
    throw node.malformed(`${count} scales of axis ${axis}`, 'one, or one for each element');
  }
  const wide = isOne ? [] : shape.map((_, i) => (i === axis ? count : 1));
  return {
    scale: node.constant(HostTensor.from('float32', wide, scale)),
    zero: node.constant(HostTensor.from(codes === 'int4' ? 'int8' : codes, wide, zero)),
  };
}
