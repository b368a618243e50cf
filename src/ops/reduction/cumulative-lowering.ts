import shader from '../../../shaders/cumulative.wgsl?raw';
import { dtypeInfo } from '../../core/dtype.ts';
import { normalizeAxis } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { LONG_ROW, longSum } from './long-sum.ts';
import { combinationWgsl } from './reduction-wgsl.ts';
import { rowKernel } from './row-kernel.ts';

/** The kernel of `cumulative`. */
export function lowerCumulative(call: LoweringCall): readonly KernelSpec[] {
  const { attributes, output } = call;
  const size =
    output.shape[
      normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, 'cumulative')
    ] ?? 1;
  const kind = boolAttribute(attributes, 'product') ? 'prod' : 'sum';
  const isLong = kind === 'sum' && dtypeInfo(output.dtype).category === 'float' && size > LONG_ROW;
  const long = longSum({ isLong, noPart: 'initial()' });
  return [
    rowKernel(call, {
      name: 'cumulative',
      source: combinationWgsl(kind, output.dtype) + long.source + shader,
      axis: intAttribute(attributes, 'axis'),
      meetsOnce: false,
      constants: {
        ...long.constants,
        IS_EXCLUSIVE: boolAttribute(attributes, 'exclusive'),
        IS_REVERSE: boolAttribute(attributes, 'reverse'),
      },
    }),
  ];
}
