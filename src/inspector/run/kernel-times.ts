import type { KernelProfile } from '../../worker/protocol.ts';

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

/** What a run spent its time with, as a sentence that says what to do. */
export function runAdvice(launches: readonly KernelProfile[], totalMs: number): string {
  const times = launches.map(({ durationMs }) => durationMs);
  if (times.includes(undefined)) {
    return 'The device gives no times of kernels, so the run can be timed as a whole only.';
  }
  const kernelMs = times.reduce((sum: number, ms) => sum + (ms ?? 0), 0);
  const share = totalMs === 0 ? 0 : kernelMs / totalMs;
  const percent = `${Math.round(share * 100)}% of the run`;
  if (share < 0.5) {
    return (
      `Kernels take ${percent}; the rest goes to launching them, to the interpreter loop and to waiting for results. ` +
      'Larger inputs or batches, and results that stay on the device (keep), make more of it.'
    );
  }
  const [first] = kernelTimes(launches);
  const part = kernelMs === 0 ? 0 : Math.round((100 * (first?.totalMs ?? 0)) / kernelMs);
  return `Kernels take ${percent}; ${first?.kernel} has ${part}% of that. session.tune looks for faster variants.`;
}

/**
 * A run in Chrome's trace format, which Perfetto opens: one track with the launches, one after the other, since devices
 * tell how long a launch took and not when it began.
 */
export function chromeTrace(
  launches: readonly KernelProfile[],
  { totalMs, device }: { readonly totalMs: number; readonly device: string },
): string {
  const common = { pid: 1, cat: 'weft' };
  const events: object[] = [
    { ...common, ph: 'M', tid: 0, name: 'process_name', args: { name: `Weft on ${device}` } },
    { ...common, ph: 'M', tid: 1, name: 'thread_name', args: { name: 'run' } },
    { ...common, ph: 'M', tid: 2, name: 'thread_name', args: { name: 'kernels' } },
    { ...common, ph: 'X', tid: 1, name: 'run', ts: 0, dur: totalMs * 1000 },
  ];
  let ts = 0;
  for (const [launch, { primitive, label, workgroups, durationMs = 0 }] of launches.entries()) {
    const dur = durationMs * 1000;
    const args = { launch, label, workgroups: workgroups.join(' x ') };
    events.push({ ...common, ph: 'X', tid: 2, name: primitive, ts, dur, args });
    ts += dur;
  }
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents: events });
}
