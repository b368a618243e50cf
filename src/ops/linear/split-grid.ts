import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { type KernelSpec, u32 } from '../lowering/lowering.ts';

type GridLimit = Pick<PlannerCaps, 'maxComputeWorkgroupsPerDimension'>;

/**
 * A kernel in pieces whose grids the adapter takes: almost always one. The shader adds the
 * parameters `first_x`, `first_y` and `first_z` to its workgroup's id.
 */
export function splitGrid(
  kernel: KernelSpec,
  { maxComputeWorkgroupsPerDimension: limit }: GridLimit,
): readonly KernelSpec[] {
  const [columns, rows, layers] = kernel.workgroups.map((count) =>
    Array.from({ length: Math.max(1, Math.ceil(count / limit)) }, (_, i) => ({
      first: i * limit,
      count: Math.min(limit, count - i * limit),
    })),
  );
  const pieces: KernelSpec[] = [];
  for (const z of layers ?? []) {
    for (const y of rows ?? []) {
      for (const x of columns ?? []) {
        const first = { first_x: u32(x.first), first_y: u32(y.first), first_z: u32(z.first) };
        pieces.push({
          ...kernel,
          params: { ...kernel.params, ...first },
          workgroups: [x.count, y.count, z.count],
        });
      }
    }
  }
  return pieces;
}
