import { elementCount } from '../../core/tensor/shape.ts';
import type { LoweringCall } from '../lowering/lowering.ts';

/** The rows or columns of a product for which kernels load an element of the other matrix once. */
const TILE = 16;

/** How often the kernels of a matrix product load each element of an input. */
export function productLoads(
  input: number,
  { inputs, output, attributes }: Omit<LoweringCall, 'caps'>,
): number {
  const size = Math.max(elementCount(inputs[input]?.shape ?? []), 1);
  const count = elementCount(output.shape);
  if (input > 1) return Math.max(count / size, 1);
  const depth = inputs[0]?.shape.at(attributes['trans_a'] === true ? 0 : -1) ?? 1;
  return Math.max((count * depth) / size / TILE, 1);
}
