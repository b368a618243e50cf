import { HostTensor } from '../../core/host-tensor.ts';
import { rowMajorStrides } from '../../core/shape.ts';
import { operand } from '../operand-checks.ts';
import { comparedElements } from './compared-elements.ts';
import type { DynamicReference } from '../op-reference.ts';

export const nonzeroReference: DynamicReference = {
  compute: (inputs) => findNonzero(operand(inputs, 0)),
};

function findNonzero(x: HostTensor): HostTensor {
  const elements = comparedElements(x);
  const positions: number[] = [];
  for (let i = 0; i < elements.length; i++) if (Number(elements[i]) !== 0) positions.push(i);
  const strides = rowMajorStrides(x.shape);
  const count = positions.length;
  const result = new BigInt64Array(strides.length * count);
  for (const [axis, stride] of strides.entries()) {
    const dim = x.shape[axis] ?? 1;
    for (const [column, position] of positions.entries()) {
      result[axis * count + column] = BigInt(Math.floor(position / stride) % dim);
    }
  }
  return new HostTensor('int64', [strides.length, count], result);
}
