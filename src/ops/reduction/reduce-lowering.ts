import direct from '../../../shaders/reduce-direct.wgsl?raw';
import workgroup from '../../../shaders/reduce-workgroup.wgsl?raw';
import { type DType, dtypeInfo, isBigInt } from '../../core/tensor/dtype.ts';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { elementCount, formatShape, normalizeAxis, type Shape } from '../../core/tensor/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import {
  f32,
  type KernelSpec,
  type LoweringCall,
  type ScratchOperand,
  u32,
} from '../lowering/lowering.ts';
import { wgslTypeName } from '../lowering/wgsl-literal.ts';
import { laneTree } from './lane-tree.ts';
import { LONG_ROUNDS, longSum } from './long-sum.ts';
import {
  type Reduction,
  reductionWgsl,
  type ReductionStage,
  type ReductionUnit,
} from './reduction-wgsl.ts';
import { perInvocation } from '../lowering/element-kernel.ts';

export type { Reduction } from './reduction-wgsl.ts';

/** Kernels of the reductions. No axes: all of them. */
function lowerReduce(kind: Reduction): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const given = intsAttribute(call.attributes, 'axes');
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
  const { kept, reduced } = splitAxes(call.inputs[0]?.shape ?? [], axes);
  const count = elementCount(call.output.shape);
  const divisor = runsCount(reduced);
  const problem = { kind, call, kept, reduced, count, divisor };
  const choice = chooseReduction(problem, call.caps);
  const { pieces } = choice;
  const only = { ...choice, from: 'input', to: 'output' } as const;
  if (pieces === 1) return [reduceKernel(problem, only)];
  const partial = {
    ...problem,
    kept: [{ size: count, stride: pieces }],
    reduced: [{ size: pieces, stride: 1 }],
  };
  const isSoftware = call.caps.adapterClass === 'software';
  const last = {
    lanes: isSoftware || pieces < 64 ? 1 : Math.max(64, choice.lanes),
    pieces: 1,
    unit: 'one',
  } as const;
  return [
    reduceKernel(problem, { ...only, to: 'scratch' }),
    reduceKernel(partial, { ...last, from: 'scratch', to: 'output' }),
  ];
}

/** How many invocations, or workgroups of many, keep an adapter busy. */
const INVOCATIONS = { software: 512, integrated: 8192, discrete: 65_536 } as const;

/** The least that a piece of an output is worth being: elements for one invocation. */
export const PIECE_SIZE = 32;

export interface ReduceChoice {
  /** Invocations that share an output; 1: each computes items of its own. */
  readonly lanes: number;
  /** Parts of each output that are computed side by side, and combined by another kernel. */
  readonly pieces: number;
  readonly unit: ReductionUnit;
}

/**
 * On GPUs adjacent invocations should read adjacent elements, so that a workgroup shares an output
 * whose elements are adjacent; where adjacent outputs have adjacent elements, each invocation has
 * outputs of its own. A software adapter has no use for workgroups.
 */
function chooseReduction(problem: ReduceProblem, caps: PlannerCaps): ReduceChoice {
  const first = firstReduction(problem, caps);
  return caps.choices?.pick('reduction', { first, problem, caps }) ?? first;
}

function firstReduction(problem: ReduceProblem, caps: PlannerCaps): ReduceChoice {
  const { kept, reduced, count, divisor, call } = problem;
  const run = reduced.at(-1) ?? { size: 1, stride: 1 };
  const target = INVOCATIONS[caps.adapterClass];
  const isRow = run.stride === 1;
  const inner = isRow ? run : kept.at(-1);
  const isInFours = !isBigInt(call.output.dtype) && inner?.stride === 1 && inner.size % 4 === 0;
  if (isRow && caps.adapterClass !== 'software' && divisor >= 64) {
    const lanes = divisor < 1024 ? 64 : Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
    const pieces = Math.min(target / 64 / count, divisor / (16 * lanes));
    return { lanes, pieces: wholePieces(divisor, pieces), unit: 'one' };
  }
  const unit = !isInFours ? 'one' : isRow ? 'elements' : 'outputs';
  const items = unit === 'outputs' ? count / 4 : count;
  const steps = unit === 'elements' ? run.size / 4 : run.size;
  const pieces = Math.min(target / items, steps / PIECE_SIZE);
  return { lanes: 1, pieces: wholePieces(steps, pieces), unit };
}

/** Pieces of equal size, none of them empty: about so many. */
export function wholePieces(size: number, wanted: number): number {
  return wanted < 2 ? 1 : Math.ceil(size / Math.ceil(size / Math.floor(wanted)));
}

export interface ReduceProblem {
  readonly kind: Reduction;
  readonly call: LoweringCall;
  readonly kept: readonly AxisRun[];
  readonly reduced: readonly AxisRun[];
  /** How many elements the output has. */
  readonly count: number;
  /** Elements of the input for each. */
  readonly divisor: number;
}

type ReduceKernel = ReductionStage & ReduceChoice;

function reduceKernel(problem: ReduceProblem, kernel: ReduceKernel): KernelSpec {
  const { kind, call, count, divisor } = problem;
  const { lanes, pieces, unit, from, to } = kernel;
  const { dtype } = call.output;
  const items = (unit === 'outputs' ? count / 4 : count) * pieces;
  const byWorkgroup = lanes > 1;
  const tree = laneTree(lanes, call.caps);
  const itemsPerGroup = byWorkgroup ? 1 : 64;
  const grid = foldGroups(Math.ceil(items / itemsPerGroup), call.caps);
  const kept = unit === 'one' ? problem.kept : inFours(problem.kept);
  const reduced = unit === 'one' ? problem.reduced : inFours(problem.reduced);
  const steps = byWorkgroup ? runsCount(reduced) : (reduced.at(-1)?.size ?? 1);
  const width = unit === 'one' ? 1 : 4;
  const isFloatSum = dtypeInfo(dtype).category === 'float' && (kind === 'sum' || kind === 'mean');
  const perLane = steps * (byWorkgroup ? 1 : runsCount(reduced.slice(0, -1)));
  const long = longSum({
    isLong: isFloatSum && perLane / pieces / lanes / 4 > LONG_ROUNDS,
    noPart: byWorkgroup ? 'initial()' : 'first_item()',
    block: 64,
  });
  const scratch = partialResults(dtype, count * pieces);
  return {
    name: byWorkgroup ? 'reduce-workgroup' : 'reduce-direct',
    source:
      reductionWgsl(kind, dtype, kernel) +
      long.source +
      (byWorkgroup ? tree.source + workgroup : perInvocation(direct)),
    enables: byWorkgroup ? tree.enables : [],
    constants: {
      ...long.constants,
      ...(byWorkgroup && { ...tree.constants, IS_ONE_RUN: reduced.length < 2 }),
    },
    params: {
      count: u32(items),
      row_length: u32(grid.rowLength * itemsPerGroup),
      divisor: u32(divisor),
      pieces: u32(pieces),
      piece_size: u32(Math.ceil(steps / pieces)),
      ...(kind === 'max' || kind === 'min'
        ? { initial: f32(kind === 'max' ? -Infinity : Infinity) }
        : {}),
      ...axisParams('kept', kept),
      ...axisParams('reduced', reduced),
    },
    workgroupSize: [byWorkgroup ? lanes : 64, 1, 1],
    workgroups: grid.workgroups,
    reads: [{ hook: 'x', from: from === 'input' ? { kind: 'input', index: 0 } : scratch, width }],
    writes: [
      to === 'output'
        ? { hook: '', to: { kind: 'output' }, width: unit === 'outputs' ? 4 : 1 }
        : { hook: 'part', to: scratch, width: 1 },
    ],
  };
}

/** The runs in groups of four adjacent elements: the run of adjacent elements consists of such. */
function inFours(runs: readonly AxisRun[]): readonly AxisRun[] {
  return runs.map(({ size, stride }) =>
    stride === 1 ? { size: size / 4, stride } : { size, stride: stride / 4 },
  );
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

export const REDUCE_LOWERINGS = {
  reduce_sum: lowerReduce('sum'),
  reduce_mean: lowerReduce('mean'),
  reduce_prod: lowerReduce('prod'),
  reduce_max: lowerReduce('max'),
  reduce_min: lowerReduce('min'),
};
