import direct from '../../shaders/softmax-direct.wgsl?raw';
import { elementCount, normalizeAxis } from '../core/shape.ts';
import { type KernelSpec, type LoweringCall, u32 } from './lowering.ts';

/** Kernels of `softmax`, or of `log_softmax` when `log`. */
export function lowerSoftmax(log: boolean): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const shape = call.output.shape;
    const axis = normalizeAxis(Number(call.attributes.axis ?? -1), shape.length, 'softmax');
    const size = shape[axis] ?? 1;
    const inner = elementCount(shape.slice(axis + 1));
    const count = elementCount(shape) === 0 ? 0 : elementCount(shape) / size;
    const groups = Math.ceil(count / 64);
    const columns = Math.min(groups, 65_535);
    return [
      {
        name: 'softmax-direct',
        source: direct,
        constants: { IS_LOG: log },
        params: {
          count: u32(count),
          row_length: u32(columns * 64),
          size: u32(size),
          inner: u32(inner),
        },
        workgroupSize: [64, 1, 1],
        workgroups: [columns, columns === 0 ? 0 : Math.ceil(groups / columns), 1],
        reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
        writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
      },
    ];
  };
}
