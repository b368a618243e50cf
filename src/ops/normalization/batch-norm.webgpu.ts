import source from '../../../shaders/batch-norm.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering.ts';

/** The kernel of `batch_norm`: one element per invocation, rows of workgroups folded to two. */
export function lowerBatchNorm(call: LoweringCall): readonly KernelSpec[] {
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
