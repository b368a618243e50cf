import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { Attributes, PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { kernelName, WGSL_KERNEL } from './wgsl-kernel.ts';
import type { StaticReference } from '../op-reference.ts';

export const wgslKernelReference: StaticReference = {
  reference(inputs, attributes, output) {
    if (attributes['alternative'] !== true) throw noAlternative(attributes);
    elementBits(output).set(elementBits(operand(inputs, inputs.length - 1)));
  },
};

/** Why the host cannot run a primitive: a kernel of the program without an alternative. */
export function hostRefusal({ body }: PrimitiveFunction): string | undefined {
  const call = body.find(({ op, attributes }) => op === WGSL_KERNEL && !attributes['alternative']);
  return call === undefined ? undefined : noAlternative(call.attributes).message;
}

function noAlternative(attributes: Attributes): UnsupportedError {
  return new UnsupportedError({
    where: `kernel ${kernelName(attributes)}`,
    got: 'WGSL of the program on the host device',
    expected: 'a session on WebGPU',
    remedy: 'Give the kernel an alternative of other operators.',
  });
}
