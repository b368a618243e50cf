import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { rowMajorStrides } from '../../core/shape.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const tileReference: StaticReference = {
  reference: tileOnHost,
};

function tileOnHost(inputs: Operands<HostTensor>, _: Attributes, output: HostTensor): void {
  const x = operand(inputs, 0);
  const from = elementBits(x);
  const to = elementBits(output);
  const strides = rowMajorStrides(x.shape);
  const own = rowMajorStrides(output.shape);
  for (let i = 0; i < to.length; i++) {
    let offset = 0;
    for (const [axis, dim] of output.shape.entries()) {
      const coord = Math.floor(i / (own[axis] ?? 1)) % dim;
      offset += (coord % (x.shape[axis] ?? 1)) * (strides[axis] ?? 0);
    }
    to[i] = from[offset] ?? 0;
  }
}
