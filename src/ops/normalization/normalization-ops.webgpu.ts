import source from '../../../shaders/batch-norm.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type Lowering, type LoweringCall } from '../lowering.ts';
import type { NormalizationName } from './normalization-ops.ts';
import { lowerRowNorm } from './row-norm-lowering.ts';
import { lowerSoftmax } from './softmax-lowering.ts';

/** The kernel of `batch_norm`: one element per invocation, rows of workgroups folded to two. */
function lowerBatchNorm(call: LoweringCall): readonly KernelSpec[] {
  const { shape } = call.output;
  const count = elementCount(shape);
  return elementKernel(count, call.caps, {
    name: 'batch-norm',
    source,
    params: {
      channels: shape[1] ?? 1,
      spatial: elementCount(shape.slice(2)),
      epsilon: f32(Number(call.attributes.epsilon)),
    },
    hooks: ['x', 'scale', 'bias', 'mean', 'variance'],
  });
}

export const NORMALIZATION_WEBGPU = {
  batch_norm: lowerBatchNorm,
  layer_norm: (call) => lowerRowNorm(call, true),
  rms_norm: (call) => lowerRowNorm(call, false),
  softmax: lowerSoftmax(false),
  log_softmax: lowerSoftmax(true),
} satisfies Record<NormalizationName, Lowering>;
