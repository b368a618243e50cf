import source from '../../../shaders/batch-norm.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';

/** The kernel of `batch_norm`: one element per invocation, rows of workgroups folded to two. */
export function lowerBatchNorm(call: LoweringCall): readonly KernelSpec[] {
  const { shape } = call.output;
  const count = elementCount(shape);
  const groups = Math.ceil(count / 64);
  const columns = Math.min(groups, call.caps.maxComputeWorkgroupsPerDimension);
  const read = (hook: string, index: number) =>
    ({ hook, from: { kind: 'input', index }, width: 1 }) as const;
  return [
    {
      name: 'batch-norm',
      source,
      constants: {},
      params: {
        count: u32(count),
        row_length: u32(columns * 64),
        channels: u32(shape[1] ?? 1),
        spatial: u32(elementCount(shape.slice(2))),
        epsilon: f32(Number(call.attributes.epsilon)),
      },
      workgroupSize: [64, 1, 1],
      workgroups: [columns, columns === 0 ? 0 : Math.ceil(groups / columns), 1],
      reads: [
        read('x', 0),
        read('scale', 1),
        read('bias', 2),
        read('mean', 3),
        read('variance', 4),
      ],
      writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
    },
  ];
}
