import direct from '../../../shaders/reduce-direct.wgsl?raw';
import workgroup from '../../../shaders/reduce-workgroup.wgsl?raw';
import { type DType, isBigInt } from '../../core/dtype.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { elementCount, formatShape, normalizeAxis, type Shape } from '../../core/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { f32, type KernelSpec, type LoweringCall, type ScratchOperand, u32 } from '../lowering.ts';
import { wgslTypeName } from '../wgsl-literal.ts';
import { type Reduction, reductionWgsl, type ReductionStage } from './reduction-wgsl.ts';

export type { Reduction } from './reduction-wgsl.ts';

/** Kernels of the reductions. No axes: all of them. */
export function lowerReduce(kind: Reduction): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const given = intsAttribute(call.attributes, 'axes');
    const axes = given.length === 0 ? Array.from({ length: rank }, (_, axis) => axis) : given;
    return lowerReduceAxes(call, kind, axes);
  };
}

/** Few results of many elements are computed piece by piece, the pieces side by side. */
const MAX_RESULTS_IN_PIECES = 64;
const PIECE_SIZE = 4096;

/** Reduces the first input over `axes`, which may count from the end. */
export function lowerReduceAxes(
  call: LoweringCall,
  kind: Reduction,
  axes: readonly number[],
): readonly KernelSpec[] {
  const { kept, reduced } = splitAxes(call.inputs[0]?.shape ?? [], axes);
  const count = elementCount(call.output.shape);
  const divisor = runsCount(reduced);
  const pieces = Math.min(64, Math.ceil(divisor / PIECE_SIZE));
  const problem = { kind, call, kept, reduced, count, divisor };
  if (count > MAX_RESULTS_IN_PIECES || pieces < 2) {
    const byWorkgroup = call.caps.adapterClass !== 'software' && divisor >= 64;
    return [reduceKernel(problem, { from: 'input', to: 'output', byWorkgroup, pieces: 1 })];
  }
  const partial = {
    ...problem,
    kept: [{ size: count, stride: pieces }],
    reduced: [{ size: pieces, stride: 1 }],
  };
  return [
    reduceKernel(problem, { from: 'input', to: 'scratch', byWorkgroup: true, pieces }),
    reduceKernel(partial, { from: 'scratch', to: 'output', byWorkgroup: false, pieces }),
  ];
}

interface ReduceProblem {
  readonly kind: Reduction;
  readonly call: LoweringCall;
  readonly kept: readonly AxisRun[];
  readonly reduced: readonly AxisRun[];
  /** Elements of the output. */
  readonly count: number;
  /** Elements of the input for each. */
  readonly divisor: number;
}

interface ReduceKernel extends ReductionStage {
  readonly byWorkgroup: boolean;
  readonly pieces: number;
}

function reduceKernel(problem: ReduceProblem, kernel: ReduceKernel): KernelSpec {
  const { kind, call, count, divisor } = problem;
  const { byWorkgroup, pieces, from, to } = kernel;
  const { dtype } = call.output;
  const items = to === 'scratch' ? count * pieces : count;
  const itemsPerGroup = byWorkgroup ? 1 : 64;
  const grid = foldGroups(Math.ceil(items / itemsPerGroup), call.caps);
  const scratch = partialResults(dtype, count * pieces);
  return {
    name: byWorkgroup ? 'reduce-workgroup' : 'reduce-direct',
    source: reductionWgsl(kind, dtype, kernel) + (byWorkgroup ? workgroup : direct),
    constants: {},
    params: {
      count: u32(items),
      row_length: u32(grid.rowLength * itemsPerGroup),
      divisor: u32(divisor),
      ...(byWorkgroup ? { pieces: u32(pieces), piece_size: u32(Math.ceil(divisor / pieces)) } : {}),
      ...(kind === 'max' || kind === 'min'
        ? { initial: f32(kind === 'max' ? -Infinity : Infinity) }
        : {}),
      ...axisParams('kept', problem.kept),
      ...axisParams('reduced', problem.reduced),
    },
    workgroupSize: [64, 1, 1],
    workgroups: grid.workgroups,
    reads: [
      { hook: 'x', from: from === 'input' ? { kind: 'input', index: 0 } : scratch, width: 1 },
    ],
    writes: [
      to === 'output'
        ? { hook: '', to: { kind: 'output' }, width: 1 }
        : { hook: 'part', to: scratch, width: 1 },
    ],
  };
}

function partialResults(dtype: DType, count: number): ScratchOperand {
  const isWide = isBigInt(dtype);
  const type = !isWide && wgslTypeName(dtype) === 'f32' ? 'f32' : 'u32';
  return { kind: 'scratch', index: 0, byteLength: count * (isWide ? 8 : 4), type };
}

interface AxisRun {
  size: number;
  stride: number;
}

const runsCount = (runs: readonly AxisRun[]) =>
  runs.reduce((product, { size }) => product * size, 1);

/** Shaders take as many runs of each kind: those of alternating axes of rank 8. */
const MAX_RUNS = 4;

/** Adjacent axes of one kind, merged. */
function splitAxes(
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
  if (kept.length <= MAX_RUNS && reduced.length <= MAX_RUNS) return { kept, reduced };
  throw new UnsupportedError({
    where: 'reduction',
    got: `axes ${axes.join(', ')} of ${formatShape(shape)}`,
    expected: `at most ${MAX_RUNS} separate runs of reduced axes`,
    remedy: 'Reduce in two steps.',
  });
}

/** The runs as parameters, padded with size 1 in front. */
function axisParams(name: string, runs: readonly AxisRun[]): KernelSpec['params'] {
  const padding = Array.from({ length: MAX_RUNS - runs.length }, () => ({ size: 1, stride: 0 }));
  return Object.fromEntries(
    [...padding, ...runs].flatMap(({ size, stride }, i) => [
      [`${name}${i}`, u32(size)],
      [`${name}_stride${i}`, u32(stride)],
    ]),
  );
}
