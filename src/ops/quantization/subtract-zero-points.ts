import { elementCount } from '../../core/tensor/shape.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import { axisSteps, type ZeroPointed } from './zero-points.ts';

/** The index of no input: kernels read nothing there. */
export const ABSENT = 9;

/**
 * Kernels of floats as kernels of integers: what they load is an i32 from which the zero point has
 * been taken.
 */
export function subtractZeroPoints(
  kernels: readonly KernelSpec[],
  { inputs }: LoweringCall,
  pairs: readonly ZeroPointed[],
): readonly KernelSpec[] {
  return kernels.map((kernel) => {
    let source = '';
    const params: Record<string, ReturnType<typeof u32>> = {};
    const reads: KernelSpec['reads'][number][] = [];
    for (const read of kernel.reads) {
      const { from, hook, width } = read;
      const pair = pairs.find(({ input }) => from.kind === 'input' && from.index === input);
      if (pair === undefined) {
        // Where floats have a bias, these have zero points.
        reads.push({ ...read, from: { kind: 'input', index: ABSENT } });
        continue;
      }
      reads.push({ ...read, hook: `${hook}_stored` });
      const zeros = inputs[pair.zero];
      const { shape = [] } = inputs[pair.input] ?? {};
      const count = zeros === undefined ? 0 : elementCount(zeros.shape);
      if (count > 0 && !reads.some((other) => other.hook === `${hook}_zero`)) {
        reads.push({ hook: `${hook}_zero`, from: { kind: 'input', index: pair.zero }, width: 1 });
        const { inner, size } = axisSteps(shape, pair.axis, count);
        params[`${hook}_inner`] = u32(inner);
        params[`${hook}_size`] = u32(size);
      }
      source += loadFunction(hook, width, count);
    }
    return {
      ...kernel,
      source: source + kernel.source,
      params: { ...kernel.params, ...params },
      reads,
    };
  });
}

function loadFunction(hook: string, width: 1 | 4, zeros: number): string {
  const suffix = width === 4 ? '4' : '';
  const at = (lane: string) =>
    zeros === 1
      ? `${hook}_zero(0u)`
      : `${hook}_zero((${lane}) / params.${hook}_inner % params.${hook}_size)`;
  const lanes = width === 1 ? ['i'] : ['i * 4u', 'i * 4u + 1u', 'i * 4u + 2u', 'i * 4u + 3u'];
  const loaded = lanes.map((lane) => `Element(load_${at(lane)})`).join(', ');
  const less = zeros === 0 ? '' : ` - Element${suffix}(${loaded})`;
  return `fn load_${hook}${suffix}(i: u32) -> Element${suffix} {
  return Element${suffix}(load_${hook}_stored${suffix}(i))${less};
}
`;
}
