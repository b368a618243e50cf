import tree from '../../../shaders/lib/lane-tree.wgsl?raw';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { KernelSpec } from '../lowering/lowering.ts';

type LaneTree = Required<Pick<KernelSpec, 'source' | 'enables' | 'constants'>>;

/**
 * The function `join_lanes` for kernels in which a power of two of adjacent invocations share a row.
 * Subgroups hold adjacent invocations of a workgroup of one dimension: WGSL does not promise it, but
 * all of its implementations do so. Of their sizes only the least is sure.
 */
export function laneTree(
  lanes: number,
  { subgroups, subgroupMinSize, adapterClass }: PlannerCaps,
): LaneTree {
  const near = subgroups && adapterClass !== 'software' ? Math.min(lanes, subgroupMinSize) : 1;
  let shuffles = '';
  for (let step = 1; step < near; step *= 2) {
    shuffles += `  part = joined(part, subgroupShuffleXor(part, ${step}u));\n`;
  }
  return {
    source: `fn join_near(value: Part) -> Part {
  var part = value;
${shuffles}  return part;
}
${tree}`,
    enables: near > 1 ? ['subgroups'] : [],
    constants: { LANES: lanes, NEAR: near },
  };
}
