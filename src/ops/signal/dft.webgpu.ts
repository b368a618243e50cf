import source from '../../../shaders/dft.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { elementKernel } from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering/lowering.ts';
import { transformOf } from './dft.ts';

/** The kernel of `dft`. */
export function lowerDft({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [x = [], table = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const of = transformOf([x, table, output.shape], attributes);
  const count = elementCount(output.shape) / (of.isHermitian ? 1 : 2);
  return elementKernel(count, caps, {
    name: 'dft',
    source,
    constants: { PARTS: of.parts, IS_HERMITIAN: of.isHermitian },
    params: {
      read: of.read,
      size: of.size,
      length: of.length,
      out_size: of.outSize,
      inner: of.inner,
      direction: f32(of.direction),
      scale: f32(of.scale),
    },
    hooks: ['x', 'twiddles'],
  });
}
