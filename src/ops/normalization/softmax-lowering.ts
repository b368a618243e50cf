import part from '../../../shaders/lib/softmax-part.wgsl?raw';
import magnitudeBits from '../../../shaders/lib/magnitude-bits.wgsl?raw';
import blocks from '../../../shaders/softmax-blocks.wgsl?raw';
import direct from '../../../shaders/softmax-direct.wgsl?raw';
import workgroup from '../../../shaders/softmax-workgroup.wgsl?raw';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { laneTree } from '../reduction/lane-tree.ts';
import { LONG_ROW, longSum } from '../reduction/long-sum.ts';
import { chooseRows, isInBlocks, rowAccess } from './row-access.ts';
import { rowLaunch } from '../reduction/row-kernel.ts';
import type { LoweringCall, KernelSpec } from '../lowering/lowering.ts';
import { perInvocation } from '../lowering/element-kernel.ts';

/** Kernels of `softmax`, or of `log_softmax` when `log`. */
function lowerSoftmax(log: boolean): (call: LoweringCall) => readonly KernelSpec[] {
  return ({ output: { shape }, attributes, caps }) => {
    const axis = normalizeAxis(Number(attributes.axis ?? -1), shape.length, 'softmax');
    const size = shape[axis] ?? 1;
    const inner = elementCount(shape.slice(axis + 1));
    const count = elementCount(shape) === 0 ? 0 : elementCount(shape) / size;
    const long = longSum({ isLong: size > LONG_ROW, noPart: 'Part(-3.4028234663852886e38, 0.0)' });
    const lib = magnitudeBits + part + long.source;
    const constants = { IS_LOG: log, ...long.constants };
    const rows = { count, size, inner };
    const { lanes, groupSize } = chooseRows(rows, caps);
    if (lanes === 1) {
      const access = rowAccess(rows, caps, groupSize);
      const shader = isInBlocks(rows, caps)
        ? { name: 'softmax-blocks', source: lib + perInvocation(blocks) }
        : { name: 'softmax-direct', source: lib + access.source + perInvocation(direct) };
      return [{ ...access, ...shader, constants: { ...access.constants, ...constants } }];
    }
    const tree = laneTree(lanes, caps);
    return [
      {
        ...rowLaunch({ ...rows, lanes, groupSize }, caps),
        name: 'softmax-workgroup',
        source: lib + tree.source + workgroup,
        enables: tree.enables,
        constants: { ...tree.constants, ...constants },
      },
    ];
  };
}

export const SOFTMAX_LOWERINGS = {
  softmax: lowerSoftmax(false),
  log_softmax: lowerSoftmax(true),
};
