import direct from '../../../shaders/reduce-direct.wgsl?raw';
import workgroup from '../../../shaders/reduce-workgroup.wgsl?raw';
import { UnsupportedError } from '../../core/errors.ts';
import { elementCount, formatShape, normalizeAxis, type Shape } from '../../core/shape.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { ints } from '../convolution/window2d.ts';

export type Reduction = 'sum' | 'mean' | 'max';

/** Kernels of `reduce_sum`, `reduce_mean` and `reduce_max`. No axes: all of them. */
export function lowerReduce(kind: Reduction): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const given = ints(call.attributes, 'axes');
    const axes = given.length === 0 ? Array.from({ length: rank }, (_, axis) => axis) : given;
    return lowerReduceAxes(call, kind, axes);
  };
}

/** Reduces the first input over `axes`, which may count from the end. */
export function lowerReduceAxes(
  call: LoweringCall,
  kind: Reduction,
  axes: readonly number[],
): readonly KernelSpec[] {
  const shape = call.inputs[0]?.shape ?? [];
  const { kept, reduced } = splitAxes(shape, axes);
  const count = elementCount(call.output.shape);
  const reducedCount = reduced.reduce((product, { size }) => product * size, 1);
  const byWorkgroup = call.caps.adapterClass !== 'software' && reducedCount >= 64;
  const outputsPerGroup = byWorkgroup ? 1 : 64;
  const grid = foldGroups(Math.ceil(count / outputsPerGroup), call.caps);
  return [
    {
      name: byWorkgroup ? 'reduce-workgroup' : 'reduce-direct',
      source: byWorkgroup ? workgroup : direct,
      constants: { IS_MAX: kind === 'max', IS_MEAN: kind === 'mean' },
      params: {
        count: u32(count),
        row_length: u32(grid.rowLength * outputsPerGroup),
        ...axisParams('kept', kept),
        ...axisParams('reduced', reduced),
      },
      workgroupSize: [64, 1, 1],
      workgroups: grid.workgroups,
      reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
      writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
    },
  ];
}

interface AxisRun {
  size: number;
  stride: number;
}

/** Adjacent axes of one kind, merged; three runs of each, padded with size 1 in front. */
export function splitAxes(
  shape: Shape,
  axes: readonly number[],
): { kept: readonly AxisRun[]; reduced: readonly AxisRun[] } {
  const isReduced = new Set(axes.map((axis) => normalizeAxis(axis, shape.length, 'reduction')));
  const kept: AxisRun[] = [];
  const reduced: AxisRun[] = [];
  let stride = 1;
  let previous: AxisRun[] | undefined;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] ?? 1;
    if (size === 1) continue;
    const runs = isReduced.has(axis) ? reduced : kept;
    const inner = runs[0];
    if (previous === runs && inner !== undefined) inner.size *= size;
    else runs.unshift({ size, stride });
    previous = runs;
    stride *= size;
  }
  if (kept.length > 3 || reduced.length > 3) {
    throw new UnsupportedError({
      where: 'reduction',
      got: `axes ${axes.join(', ')} of ${formatShape(shape)}`,
      expected: 'at most three separate runs of reduced axes',
      remedy: 'Reduce in two steps.',
    });
  }
  return { kept: padRuns(kept), reduced: padRuns(reduced) };
}

function padRuns(runs: readonly AxisRun[]): AxisRun[] {
  return [...Array.from({ length: 3 - runs.length }, () => ({ size: 1, stride: 0 })), ...runs];
}

function axisParams(name: string, runs: readonly AxisRun[]): KernelSpec['params'] {
  return Object.fromEntries(
    runs.flatMap(({ size, stride }, i) => [
      [`${name}${i}`, u32(size)],
      [`${name}_stride${i}`, u32(stride)],
    ]),
  );
}
