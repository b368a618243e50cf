import blocks from '../../../shaders/row-norm-blocks.wgsl?raw';
import direct from '../../../shaders/row-norm-direct.wgsl?raw';
import source from '../../../shaders/row-norm.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { operand, requireMinimumRank } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { laneTree } from '../reduction/lane-tree.ts';
import { chooseRows, isInBlocks, rowAccess } from './row-access.ts';
import { rowLaunch } from '../reduction/row-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering.ts';
import { perInvocation } from '../element-kernel.ts';

/** `isCentered`: the mean is taken off first. */
function defineRowNorm<const Name extends string>(name: Name, isCentered: boolean) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: { epsilon: { type: 'float', default: 1e-5 } },
    infer(inputs) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 1, name);
      return { dtype: x.dtype, shape: x.shape };
    },
    fusion: { loads: () => 2 },
    lower: (call) => lowerRowNorm(call, isCentered),
    tolerance: { rtol: 1e-4, atol: 1e-5 },
  });
}

/** Rows without their mean, in units of their deviation; scale and shift are operators behind it. */
const layerNorm = defineRowNorm('layer_norm', true);

const rmsNorm = defineRowNorm('rms_norm', false);

export const ROW_NORM_OPS = [layerNorm, rmsNorm] as const;

export type RowNormName = (typeof ROW_NORM_OPS)[number]['name'];

function lowerRowNorm(
  { output, attributes, caps }: LoweringCall,
  isCentered: boolean,
): readonly KernelSpec[] {
  const size = output.shape.at(-1) ?? 1;
  const count = size === 0 ? 0 : elementCount(output.shape) / size;
  const epsilon = f32(floatAttribute(attributes, 'epsilon'));
  const rows = { count, size, inner: 1 };
  const { lanes, groupSize } = chooseRows(rows, caps);
  if (lanes === 1) {
    const access = rowAccess(rows, caps, groupSize);
    return [
      {
        ...access,
        ...(isInBlocks(rows, caps)
          ? { name: 'row-norm-blocks', source: perInvocation(blocks) }
          : { name: 'row-norm-direct', source: access.source + perInvocation(direct) }),
        constants: { ...access.constants, IS_CENTERED: isCentered },
        params: { ...access.params, epsilon },
      },
    ];
  }
  const tree = laneTree(lanes, caps);
  const launch = rowLaunch({ ...rows, lanes, groupSize }, caps);
  return [
    {
      ...launch,
      name: 'row-norm',
      source: tree.source + source,
      enables: tree.enables,
      constants: { ...tree.constants, IS_CENTERED: isCentered },
      params: { ...launch.params, epsilon },
    },
  ];
}
