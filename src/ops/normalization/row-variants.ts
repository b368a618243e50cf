import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { RowChoice, Rows } from './row-access.ts';

/** Variants that a measurement may prefer for softmax and norms, by name: invocations of a row, and of a workgroup. */
export function rowVariants({ size }: Rows, caps: PlannerCaps): ReadonlyMap<string, RowChoice> {
  const most = Math.min(256, caps.maxComputeInvocationsPerWorkgroup);
  const shared = [32, 64, 128, 256].filter((lanes) => lanes <= most && lanes * 2 <= size);
  const choices: RowChoice[] =
    caps.adapterClass === 'software'
      ? [4, 16, 64].map((groupSize) => ({ lanes: 1, groupSize }))
      : [
          { lanes: 1, groupSize: 64 },
          ...shared.map((lanes) => ({ lanes, groupSize: Math.max(64, lanes) })),
        ];
  return new Map(
    choices.map((choice) => [`${choice.lanes} for a row, ${choice.groupSize} a group`, choice]),
  );
}
