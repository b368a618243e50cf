import type { KernelProfile } from '../../worker/protocol/run-request.ts';

/** All launches of a kernel in a run. */
export interface KernelTimes {
  readonly kernel: string;
  readonly launches: number;
  /** Undefined where the adapter has no timestamps. */
  readonly totalMs: number | undefined;
}

/** Kernels of a run, those that took longest first. */
export function kernelTimes(launches: readonly KernelProfile[]): readonly KernelTimes[] {
  const all = new Map<string, { launches: number; totalMs: number | undefined }>();
  for (const { primitive, durationMs } of launches) {
    const known = all.get(primitive) ?? { launches: 0, totalMs: 0 };
    const { totalMs } = known;
    const sum =
      totalMs === undefined || durationMs === undefined ? undefined : totalMs + durationMs;
    all.set(primitive, { launches: known.launches + 1, totalMs: sum });
  }
  return [...all]
    .map(([kernel, times]) => ({ kernel, ...times }))
    .toSorted((a, b) => (b.totalMs ?? 0) - (a.totalMs ?? 0));
}
