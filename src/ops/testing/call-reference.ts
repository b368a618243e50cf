import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/tensor/shape.ts';
import { caseResult } from './case-tensors.ts';
import type { Operands } from '../lowering/lowering.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';

/** The result of an operator's reference. */
export function callReference(
  name: string,
  inputs: Operands<HostTensor>,
  attributes: Attributes = {},
): HostTensor {
  return caseResult(CORE_OPERATORS.require(name), { title: name, inputs, attributes }, inputs);
}

/** The element at an index, as a number. */
export const at = (tensor: HostTensor, index: number): number => Number(tensor.elements[index]);

/** The coordinates of every element of a shape, in row-major order. */
export function allCoordinates(shape: Shape): number[][] {
  const strides = rowMajorStrides(shape);
  return Array.from({ length: elementCount(shape) }, (_, index) =>
    shape.map((dim, axis) => Math.floor(index / (strides[axis] ?? 1)) % dim),
  );
}
