import direct from '../../../shaders/pool2d-direct.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { windowParams } from './conv2d-lowering.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { lowerReduceAxes } from '../reduction/reduce-lowering.ts';
import { ints, window2d } from './window2d.ts';

/** Kernels of `max_pool2d` and `avg_pool2d`. */
export function lowerPool2d(
  kind: 'max' | 'average',
): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const [kernelH = 1, kernelW = 1] = ints(call.attributes, 'kernel');
    const window = window2d(call, [kernelH, kernelW]);
    const countsPad = Boolean(call.attributes.count_include_pad);
    const count = elementCount(call.output.shape);
    const grid = foldGroups(Math.ceil(count / 64), call.caps);
    return [
      {
        name: 'pool2d-direct',
        source: direct,
        constants: { IS_MAX: kind === 'max', COUNTS_PAD: countsPad },
        params: {
          ...windowParams(window),
          count: u32(count),
          row_length: u32(grid.rowLength * 64),
          counted_h: u32(window.inH + window.padBottom),
          counted_w: u32(window.inW + window.padRight),
        },
        workgroupSize: [64, 1, 1],
        workgroups: grid.workgroups,
        reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
        writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
      },
    ];
  };
}

/** Kernels of `global_max_pool` and `global_avg_pool`: all axes after the second. */
export function lowerGlobalPool2d(
  kind: 'max' | 'average',
): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const axes = Array.from({ length: Math.max(0, rank - 2) }, (_, i) => i + 2);
    return lowerReduceAxes(call, kind === 'max' ? 'max' : 'mean', axes);
  };
}
