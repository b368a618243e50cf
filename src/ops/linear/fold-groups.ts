import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';

/** A number of workgroups as a grid that respects the adapter's limit per dimension. */
interface FoldedGroups {
  readonly workgroups: readonly [number, number, number];
  /** Workgroups in one row of the grid: group = x + y * rowLength. */
  readonly rowLength: number;
}

/** Spreads workgroups over two dimensions; the grid may have a few too many at its end. */
export function foldGroups(
  count: number,
  { maxComputeWorkgroupsPerDimension: limit }: PlannerCaps,
): FoldedGroups {
  if (count <= limit) return { workgroups: [count, 1, 1], rowLength: count };
  const rows = Math.ceil(count / limit);
  const rowLength = Math.ceil(count / rows);
  return { workgroups: [rowLength, rows, 1], rowLength };
}
