import source from '../../../shaders/resample.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { elementKernel } from '../element-kernel.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { layoutOf } from './resample.ts';

/** The kernel of `resample`. */
export function lowerResample({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [outSize = 1, width = 1] = inputs[1]?.shape ?? [];
  const { size, inner } = layoutOf(inputs[0]?.shape ?? [], attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'resample',
    source,
    params: {
      size: size,
      inner: inner,
      out_size: outSize,
      width: width,
    },
    hooks: ['x', 'table'],
  });
}
