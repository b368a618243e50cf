import direct from '../../../shaders/softmax-direct.wgsl?raw';
import workgroup from '../../../shaders/softmax-workgroup.wgsl?raw';
import { elementCount, normalizeAxis } from '../../core/shape.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';

/** Kernels of `softmax`, or of `log_softmax` when `log`. */
export function lowerSoftmax(log: boolean): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const shape = call.output.shape;
    const axis = normalizeAxis(Number(call.attributes.axis ?? -1), shape.length, 'softmax');
    const size = shape[axis] ?? 1;
    const inner = elementCount(shape.slice(axis + 1));
    const count = elementCount(shape) === 0 ? 0 : elementCount(shape) / size;
    const byWorkgroup = call.caps.adapterClass !== 'software' && size >= 64;
    const rowsPerGroup = byWorkgroup ? 1 : 64;
    const grid = foldGroups(Math.ceil(count / rowsPerGroup), call.caps);
    return [
      {
        name: byWorkgroup ? 'softmax-workgroup' : 'softmax-direct',
        source: byWorkgroup ? workgroup : direct,
        constants: { IS_LOG: log },
        params: {
          count: u32(count),
          row_length: u32(grid.rowLength * rowsPerGroup),
          size: u32(size),
          inner: u32(inner),
        },
        workgroupSize: [64, 1, 1],
        workgroups: grid.workgroups,
        reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
        writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
      },
    ];
  };
}
