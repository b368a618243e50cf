import direct from '../../shaders/pool2d-direct.wgsl?raw';
import { windowParams } from './conv2d-lowering.ts';
import { type KernelSpec, type LoweringCall, u32 } from './lowering.ts';
import { lowerReduceAxes } from './reduce-lowering.ts';
import { ints, window2d } from './window2d.ts';

/** Kernels of `max_pool2d` and `avg_pool2d`. */
export function lowerPool2d(
  kind: 'max' | 'average',
): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const [kernelH = 1, kernelW = 1] = ints(call.attributes, 'kernel');
    const window = window2d(call, [kernelH, kernelW]);
    const countsPad = Boolean(call.attributes.count_include_pad);
    return [
      {
        name: 'pool2d-direct',
        source: direct,
        constants: { IS_MAX: kind === 'max', COUNTS_PAD: countsPad },
        params: {
          ...windowParams(window),
          counted_h: u32(window.inH + window.padBottom),
          counted_w: u32(window.inW + window.padRight),
        },
        workgroupSize: [16, 4, 1],
        workgroups: [
          Math.ceil(window.outW / 16),
          Math.ceil(window.outH / 4),
          window.batch * window.channels,
        ],
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
