import last from '../../../shaders/det-last.wgsl?raw';
import step from '../../../shaders/det-step.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { invocationGrid, perInvocation, storeOutput } from '../lowering/element-kernel.ts';
import {
  type KernelOperand,
  type KernelSpec,
  type LoweringCall,
  u32,
} from '../lowering/lowering.ts';

/** A kernel for each row but the last; what they leave alternates between two scratch buffers. */
export function lowerDet({ inputs, output, caps }: LoweringCall): readonly KernelSpec[] {
  const size = inputs[0]?.shape.at(-1) ?? 0;
  const count = elementCount(output.shape);
  const product = { kind: 'scratch', index: 2, byteLength: Math.max(4, count * 4) } as const;
  const rest = Math.max(1, (size - 1) ** 2 * count);
  const left = (index: number): KernelOperand =>
    index < 0
      ? { kind: 'input', index: 0 }
      : { kind: 'scratch', index: index % 2, byteLength: rest * 4 };
  const kernel = (index: number, elements: number): Omit<KernelSpec, 'name' | 'source'> => {
    const grid = invocationGrid(elements, caps);
    return {
      ...grid,
      constants: { IS_FIRST: index === 0 },
      params: { ...grid.params, size: u32(size - index) },
      reads: [
        { hook: 'from', from: left(index - 1), width: 1 },
        { hook: 'product', from: product, width: 1 },
      ],
      writes: [],
    };
  };
  const steps = Array.from(
    { length: Math.max(0, size - 1) },
    (_, index): KernelSpec => ({
      name: 'det-step',
      source: perInvocation(step),
      ...kernel(index, count * (size - index - 1) ** 2),
      writes: [
        { hook: 'to', to: left(index), width: 1 },
        { hook: 'product', to: product, width: 1 },
      ],
    }),
  );
  const end = kernel(steps.length, count);
  return [
    ...steps,
    {
      ...end,
      name: 'det-last',
      source: perInvocation(last),
      constants: { ...end.constants, IS_EMPTY: size === 0 },
      writes: storeOutput(),
    },
  ];
}
