import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { readInputs, storeOutput, asParams } from '../lowering/element-kernel.ts';
import { type KernelSpec, type LoweringCall, MAX_LOOP_ROUNDS } from '../lowering/lowering.ts';

interface RowShader {
  readonly name: string;
  readonly source: string;
  readonly axis: number;
  readonly constants: KernelSpec['constants'];
  /** Invocations that share a row wait for each other at its end only, not all along it. */
  readonly meetsOnce: boolean;
}

/**
 * Invocations in a workgroup of a kernel with one row for each. Where there are few rows, all cores of
 * a software adapter get some, and lanes that have none cost nothing.
 */
export function rowGroupSize(count: number, { adapterClass }: PlannerCaps): number {
  if (adapterClass !== 'software' || count >= 4096) return 64;
  return count > 64 ? 16 : 4;
}

interface RowLaunch {
  readonly count: number;
  readonly size: number;
  readonly inner: number;
  /** Invocations that share a row, and of a workgroup. */
  readonly lanes: number;
  readonly groupSize: number;
}

/** The launch of a kernel over rows, which are numbered by workgroups, from input `x` to the output. */
export function rowLaunch(
  { count, size, inner, lanes, groupSize }: RowLaunch,
  caps: PlannerCaps,
): Pick<KernelSpec, 'params' | 'workgroupSize' | 'workgroups' | 'reads' | 'writes'> {
  const { workgroups, rowLength } = foldGroups(Math.ceil((count * lanes) / groupSize), caps);
  return {
    params: asParams({ count, row_length: rowLength, size, inner }),
    workgroupSize: [groupSize, 1, 1],
    workgroups,
    reads: readInputs('x'),
    writes: storeOutput(),
  };
}

/**
 * A kernel over the rows of its input along one axis. `LANES` invocations share a row: one where
 * rows are short, or where the adapter computes invocations one after another.
 */
export function rowKernel(call: LoweringCall, shader: RowShader): KernelSpec {
  const { shape }: Pick<ConcreteTensorType, 'shape'> = call.inputs[0] ?? { shape: [] };
  const axis = normalizeAxis(shader.axis, shape.length, shader.name);
  const size = shape[axis] ?? 1;
  const count = size === 0 ? 0 : elementCount(shape) / size;
  const isShared =
    call.caps.adapterClass === 'software'
      ? (shader.meetsOnce && count < 4 && size >= 4096) || size > MAX_LOOP_ROUNDS
      : size >= 64;
  const lanes = isShared ? 64 : 1;
  const groupSize = isShared ? 64 : rowGroupSize(count, call.caps);
  const inner = elementCount(shape.slice(axis + 1));
  return {
    ...rowLaunch({ count, size, inner, lanes, groupSize }, call.caps),
    name: shader.name,
    source: shader.source,
    constants: { LANES: lanes, ...shader.constants },
  };
}
