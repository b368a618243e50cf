import { type DeviceRates } from '../../core/contracts/device-rates.ts';
import type { RunTimeline } from '../../core/contracts/run-timeline.ts';

/** The limit that a kernel runs into; `neither`: it is slower than the measured rates explain. */
type KernelBound = 'launches' | 'memory' | 'computing' | 'neither';

/** A kernel in a run: all its calls. */
export interface KernelLoad {
  readonly kernel: string;
  readonly calls: number;
  /** Milliseconds on the device; undefined where it tells no times. */
  readonly totalMs: number | undefined;
  /** Additions and multiplications, about; undefined where nobody can tell. */
  readonly operations: number | undefined;
  /** Bytes that it reads and writes. */
  readonly bytes: number | undefined;
  /** The time that the device was measured to need for that, of the time that it took. */
  readonly share: number | undefined;
  readonly bound: KernelBound | undefined;
}

/** From this share of what the device can do on a kernel waits for nothing else. */
const BOUND_SHARE = 0.5;

type Sums = { -readonly [K in 'calls' | 'totalMs' | 'operations' | 'bytes']: KernelLoad[K] } & {
  calls: number;
};

/** The kernels of a run, those that took longest first. */
export function kernelLoads(
  run: Pick<RunTimeline, 'events' | 'untimedKernels'>,
  rates: DeviceRates | undefined,
): readonly KernelLoad[] {
  const all = new Map<string, Sums>();
  const sumsOf = (kernel: string): Sums => {
    const known = all.get(kernel);
    if (known !== undefined) return known;
    const totalMs = run.untimedKernels > 0 ? undefined : 0;
    const sums: Sums = { calls: 0, totalMs, operations: 0, bytes: 0 };
    all.set(kernel, sums);
    return sums;
  };
  for (const { kind, name, isKernelCall, work, beginMs, endMs } of run.events) {
    if (isKernelCall === true) {
      const sums = sumsOf(name);
      sums.calls++;
      sums.operations = added(sums.operations, work?.operations);
      sums.bytes = added(sums.bytes, work?.bytes);
    } else if (kind === 'kernel') {
      const sums = sumsOf(name);
      sums.totalMs = added(sums.totalMs, endMs - beginMs);
    }
  }
  return [...all]
    .map(([kernel, sums]) => ({ kernel, ...sums, ...limitsOf(sums, rates) }))
    .toSorted((a, b) => (b.totalMs ?? 0) - (a.totalMs ?? 0));
}

function added(sum: number | undefined, more: number | undefined): number | undefined {
  return sum === undefined || more === undefined ? undefined : sum + more;
}

function limitsOf(
  { calls, totalMs, operations, bytes }: Sums,
  rates: DeviceRates | undefined,
): Pick<KernelLoad, 'share' | 'bound'> {
  if (rates === undefined || operations === undefined || bytes === undefined) return NO_LIMITS;
  const computingMs = operations / rates.operationsPerMs;
  const memoryMs = bytes / rates.bytesPerMs;
  const needed = Math.max(computingMs, memoryMs);
  const share = totalMs === undefined || totalMs === 0 ? undefined : needed / totalMs;
  if (needed < calls * rates.launchMs) return { share, bound: 'launches' };
  if (share === undefined) return { share, bound: undefined };
  if (share < BOUND_SHARE) return { share, bound: 'neither' };
  return { share, bound: memoryMs >= computingMs ? 'memory' : 'computing' };
}

const NO_LIMITS = { share: undefined, bound: undefined };
