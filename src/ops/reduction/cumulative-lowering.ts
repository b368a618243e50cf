import shader from '../../../shaders/cumulative.wgsl?raw';
import { boolAttribute, intAttribute } from '../attributes.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { combinationWgsl } from './reduction-wgsl.ts';
import { rowKernel } from './row-kernel.ts';

/** The kernel of `cumulative`. */
export function lowerCumulative(call: LoweringCall): readonly KernelSpec[] {
  const { attributes, output } = call;
  const kind = boolAttribute(attributes, 'product') ? 'prod' : 'sum';
  return [
    rowKernel(call, {
      name: 'cumulative',
      source: combinationWgsl(kind, output.dtype) + shader,
      axis: intAttribute(attributes, 'axis'),
      meetsOnce: false,
      constants: {
        IS_EXCLUSIVE: boolAttribute(attributes, 'exclusive'),
        IS_REVERSE: boolAttribute(attributes, 'reverse'),
      },
    }),
  ];
}
