import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { type ConvolutionPlan, convolve } from './convolution.ts';
import { floatElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { volumeAxes, windowAxes } from './window.ts';
import type { StaticReference } from '../op-reference.ts';

const WINDOW = { name: 'conv2d', ceilMode: false };

export const conv2dReference: StaticReference = {
  reference: (inputs, attributes, output) => convolve(convolutionPlan(inputs, attributes, output)),
};

function convolutionPlan(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): ConvolutionPlan {
  const x = operand(inputs, 0);
  const w = operand(inputs, 1);
  const bias = inputs[2];
  const axes = windowAxes(x.shape, attributes, {
    ...WINDOW,
    kernel: w.shape.slice(2),
    dims: CONCRETE_DIMS,
  });
  const [, rows, columns] = volumeAxes(axes);
  return {
    x: floatElements(x),
    w: floatElements(w),
    bias: bias === undefined ? undefined : floatElements(bias),
    y: floatElements(output),
    batch: x.shape[0] ?? 0,
    channels: x.shape[1] ?? 0,
    outChannels: w.shape[0] ?? 0,
    groups: intAttribute(attributes, 'groups'),
    rows,
    columns,
  };
}
