import { elementCount } from '../../core/shape.ts';
import type { WorkFunction } from '../work-function.ts';
import type { ConvolutionName } from './convolution-ops.ts';

/** Each element of the result takes the weights of its channel. */
export const convolutionWork: WorkFunction = ({ inputs, output }) =>
  2 * elementCount(output.shape) * elementCount(inputs[1]?.shape.slice(1) ?? []);

/** Each element of the input goes to the weights of its channel. */
const transposedWork: WorkFunction = ({ inputs }) =>
  2 * elementCount(inputs[0]?.shape ?? []) * elementCount(inputs[1]?.shape.slice(1) ?? []);

export const CONVOLUTION_WORK: Readonly<Partial<Record<ConvolutionName, WorkFunction>>> = {
  conv2d: convolutionWork,
  conv3d: convolutionWork,
  conv_transpose: transposedWork,
  deform_conv: convolutionWork,
};
