import { elementCount } from '../../core/shape.ts';
import { convolutionWork } from '../convolution/convolution-ops.work.ts';
import type { WorkFunction } from '../work-function.ts';
import type { QuantizationName } from './quantization-ops.ts';

const productWork: WorkFunction = ({ inputs, output }) =>
  2 * elementCount(output.shape) * (inputs[0]?.shape.at(-1) ?? 1);

export const QUANTIZATION_WORK: Readonly<Partial<Record<QuantizationName, WorkFunction>>> = {
  matmul_integer: productWork,
  matmul_nbits: productWork,
  gather_matmul_nbits: productWork,
  conv_integer: convolutionWork,
};
