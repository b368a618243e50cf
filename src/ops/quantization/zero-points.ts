import { ShapeError } from '../../core/errors.ts';
import type { DimContext } from '../../core/dim-context.ts';
import type { Dim } from '../../core/dim.ts';
import type { TensorTypeOf } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { type KernelSpec, type LoweringCall, type Operands, u32 } from '../lowering.ts';
import { formatType, operand, requireVector } from '../operand-checks.ts';

/** An input of integers and the input that holds its zero points, by index. */
export interface ZeroPointed {
  readonly input: number;
  readonly zero: number;
  /** The axis along which zero points vary, where there is more than one. */
  readonly axis: number;
}

/** Zero points are one for all, or one for each index along an axis. Throws ShapeError. */
export function requireZeroPoints<D extends Dim>(
  types: Operands<TensorTypeOf<D>>,
  { input, zero, axis }: ZeroPointed,
  { where, dims }: { readonly where: string; readonly dims: DimContext<D> },
): void {
  const type = types[zero];
  if (type === undefined) return;
  const x = operand(types, input);
  const complaint = () => ({
    where,
    got: `zero points ${formatType(type)} for ${formatType(x)}`,
    expected: `${x.dtype}, one or as many as axis ${axis} has`,
  });
  if (type.dtype !== x.dtype) throw new ShapeError(complaint());
  if (type.shape.every((dim) => dim === 1)) return;
  requireVector(type, x.shape.at(axis) ?? dims.of(1), { dims, complaint });
}

/** Element i has the zero point i / inner % size. */
export function axisSteps(
  shape: readonly number[],
  axis: number,
  size: number,
): { inner: number; size: number } {
  const after = axis === -1 ? [] : shape.slice(axis + 1);
  return { inner: Math.max(1, elementCount(after)), size: Math.max(1, size) };
}

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

/** The index of no input: kernels read nothing there. */
export const ABSENT = 9;

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
