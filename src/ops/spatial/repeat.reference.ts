import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const repeatReference: StaticReference = {
  reference: repeatElements,
};

function repeatElements(inputs: Operands<HostTensor>, _: Attributes, output: HostTensor): void {
  const x = operand(inputs, 0);
  const [from, to] = [elementBits(x), elementBits(output)];
  const [strides, own] = [rowMajorStrides(x.shape), rowMajorStrides(output.shape)];
  const counts = output.shape.map((dim, axis) => dim / (x.shape[axis] ?? 1));
  for (let i = 0; i < to.length; i++) {
    let [rest, offset] = [i, 0];
    for (const [axis, stride] of own.entries()) {
      const coord = Math.floor(rest / stride);
      rest -= coord * stride;
      offset += Math.floor(coord / (counts[axis] ?? 1)) * (strides[axis] ?? 0);
    }
    to[i] = from[offset] ?? 0;
  }
}
