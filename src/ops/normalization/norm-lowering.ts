import blocks from '../../../shaders/row-norm-blocks.wgsl?raw';
import part from '../../../shaders/lib/row-norm-part.wgsl?raw';
import direct from '../../../shaders/row-norm-direct.wgsl?raw';
import source from '../../../shaders/row-norm.wgsl?raw';
import batch from '../../../shaders/batch-norm.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { elementKernel, perInvocation } from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering/lowering.ts';
import { laneTree } from '../reduction/lane-tree.ts';
import { LONG_ROW, longSum } from '../reduction/long-sum.ts';
import { rowLaunch } from '../reduction/row-kernel.ts';
import { chooseRows, isInBlocks, rowAccess } from './row-access.ts';

/** Kernels of the norms of rows; `isCentered`: the mean is taken off first. */
function lowerRowNorm(
  { output, attributes, caps }: LoweringCall,
  isCentered: boolean,
): readonly KernelSpec[] {
  const size = output.shape.at(-1) ?? 1;
  const count = size === 0 ? 0 : elementCount(output.shape) / size;
  const epsilon = f32(floatAttribute(attributes, 'epsilon'));
  const rows = { count, size, inner: 1 };
  const { lanes, groupSize } = chooseRows(rows, caps);
  const isLong = size > LONG_ROW;
  if (lanes === 1) {
    const long = longSum({ isLong, noPart: 'Part()' });
    const lib = part + long.source;
    const access = rowAccess(rows, caps, groupSize);
    return [
      {
        ...access,
        ...(isInBlocks(rows, caps)
          ? { name: 'row-norm-blocks', source: lib + perInvocation(blocks) }
          : { name: 'row-norm-direct', source: access.source + lib + perInvocation(direct) }),
        constants: { ...access.constants, ...long.constants, IS_CENTERED: isCentered },
        params: { ...access.params, epsilon },
      },
    ];
  }
  const tree = laneTree(lanes, caps);
  const long = longSum({ isLong, noPart: '0.0' });
  const launch = rowLaunch({ ...rows, lanes, groupSize }, caps);
  return [
    {
      ...launch,
      name: 'row-norm',
      source: tree.source + long.source + source,
      enables: tree.enables,
      constants: { ...tree.constants, ...long.constants, IS_CENTERED: isCentered },
      params: { ...launch.params, epsilon },
    },
  ];
}

/** The kernel of `batch_norm`: one element per invocation, rows of workgroups folded to two. */
function lowerBatchNorm(call: LoweringCall): readonly KernelSpec[] {
  const { shape } = call.output;
  const count = elementCount(shape);
  return elementKernel(count, call.caps, {
    name: 'batch-norm',
    source: batch,
    params: {
      channels: shape[1] ?? 1,
      spatial: elementCount(shape.slice(2)),
      epsilon: f32(Number(call.attributes.epsilon)),
    },
    hooks: ['x', 'scale', 'bias', 'mean', 'variance'],
  });
}

export const NORM_LOWERINGS = {
  batch_norm: lowerBatchNorm,
  layer_norm: (call: LoweringCall) => lowerRowNorm(call, true),
  rms_norm: (call: LoweringCall) => lowerRowNorm(call, false),
};
