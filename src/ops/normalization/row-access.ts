import scalar from '../../../shaders/lib/row-four-scalar.wgsl?raw';
import vector from '../../../shaders/lib/row-four-vector.wgsl?raw';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { readInput, storeOutput, invocationGrid } from '../lowering/element-kernel.ts';
import { type KernelSpec, MAX_LOOP_ROUNDS, u32 } from '../lowering/lowering.ts';
import { rowGroupSize } from '../reduction/row-kernel.ts';

/** Rows along an axis, whose elements lie `inner` apart. */
export interface Rows {
  readonly count: number;
  readonly size: number;
  readonly inner: number;
}

/**
 * Invocations for each row: on GPUs those of half a workgroup for short rows, up to four for long
 * ones; 1 where rows are very short and on adapters that compute invocations one after another.
 */
export function lanesOfRow(size: number, caps: PlannerCaps): number {
  if (caps.adapterClass === 'software' || size < 64) return 1;
  if (size < 256) return 32;
  return size < 1024 ? 64 : Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
}

/** Invocations for each row, and of a workgroup. */
export interface RowChoice {
  readonly lanes: number;
  readonly groupSize: number;
}

export function chooseRows(rows: Rows, caps: PlannerCaps): RowChoice {
  if (isTooLong(rows, caps)) {
    const lanes = Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
    return { lanes, groupSize: lanes };
  }
  const lanes = lanesOfRow(rows.size, caps);
  const groupSize = lanes === 1 ? rowGroupSize(rows.count, caps) : Math.max(64, lanes);
  const first = { lanes, groupSize };
  return caps.choices?.pick('rows', { first, problem: rows, caps }) ?? first;
}

/** Returns true if the two passes of one invocation over a row would have too many rounds. */
function isTooLong(rows: Rows, caps: PlannerCaps): boolean {
  const perRound = isInBlocks(rows, caps) ? 16 : 4;
  return caps.adapterClass === 'software' && (2 * rows.size) / perRound > MAX_LOOP_ROUNDS;
}

type RowAccess = Pick<
  KernelSpec,
  'source' | 'constants' | 'params' | 'workgroupSize' | 'workgroups' | 'reads' | 'writes'
>;

/** With fewer elements kernels that load four groups at a time take longer to compile than they save. */
const MANY_ELEMENTS = 1 << 18;

/** Returns true if an invocation reads its row by blocks of four groups of four elements. */
export function isInBlocks({ count, size, inner }: Rows, { adapterClass }: PlannerCaps): boolean {
  const isWhole = inner === 1 && size % 4 === 0 && size >= 16;
  return adapterClass === 'software' && isWhole && count * size >= MANY_ELEMENTS;
}

/**
 * How a kernel with one row per invocation accesses its input and output: the functions `load_four`,
 * `load_one`, `store_four` and `store_one`, and what a kernel takes for them. Kernels for blocks access
 * the hooks themselves.
 */
export function rowAccess(
  { count, size, inner }: Rows,
  caps: PlannerCaps,
  groupSize = rowGroupSize(count, caps),
): RowAccess {
  const isVector = inner === 1 && size % 4 === 0;
  const width = isVector ? 4 : 1;
  const grid = invocationGrid(count, caps, groupSize);
  return {
    ...grid,
    source: isVector ? vector : scalar,
    constants: { HAS_TAIL: !isVector },
    params: {
      ...grid.params,
      size: u32(size),
      inner: u32(inner),
    },
    reads: [readInput('x', 0, width)],
    writes: storeOutput(width),
  };
}
