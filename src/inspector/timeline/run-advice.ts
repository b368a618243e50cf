import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import { formatBytes, formatCount, formatMs } from '../../core/format-quantity.ts';
import type {
  RunTimeline,
  RunTimelines,
  TimelineEvent,
} from '../../core/contracts/run-timeline.ts';
import { unionMs, unionWithoutMs } from './intervals.ts';
import { type KernelLoad, kernelLoads } from './kernel-loads.ts';
import { eventsOfKind } from './timeline-lanes.ts';

/** Kinds of work and waiting that may take most of a run. */
type AdviceKind =
  | 'compiling'
  | 'uploads'
  | 'waiting for readback'
  | 'launch-bound'
  | 'bandwidth-bound'
  | 'compute-bound'
  | 'slow kernel'
  | 'no times';

/** A finding with its reason in numbers, and what helps. */
interface Advice {
  readonly kind: AdviceKind;
  /** Milliseconds of the run that it is about. */
  readonly ms: number;
  readonly reason: string;
  readonly remedy: string;
}

/** A smaller share of the run is not worth advice. */
const LEAST_SHARE = 0.15;
/** Kernels that are spoken of. */
const MOST_KERNELS = 3;

/**
 * Advice on what takes most time in a run, the longest first. Empty where nothing takes much of it.
 */
export function runAdvice(
  run: RunTimeline,
  { rates, device }: Pick<RunTimelines, 'rates' | 'device'>,
): readonly Advice[] {
  const parts: readonly (Advice | undefined)[] = [
    compiling(run),
    uploads(run),
    waiting(run, rates),
    launching(run, device),
    ...kernels(run, rates),
  ];
  const found = parts.filter((part) => part !== undefined);
  const worth = found.filter(({ ms }) => ms >= LEAST_SHARE * run.totalMs);
  return [...noTimes(run), ...worth.toSorted((a, b) => b.ms - a.ms)];
}

const bytesOf = (events: readonly TimelineEvent[]): number =>
  events.reduce((sum, { bytes = 0 }) => sum + bytes, 0);

function partOf({ totalMs }: RunTimeline, ms: number): string {
  return `${formatMs(ms)} of ${formatMs(totalMs)} (${percent(ms / totalMs)})`;
}

const percent = (share: number): string => `${Math.round(share * 100)}%`;

function compiling(run: RunTimeline): Advice | undefined {
  const pipelines = eventsOfKind(run, 'compile');
  if (pipelines.length === 0) return undefined;
  const ms = unionMs(pipelines);
  return {
    kind: 'compiling',
    ms,
    reason: `Compiling ${formatCount(pipelines.length, 'pipeline')} takes ${partOf(run, ms)}.`,
    remedy:
      'Later runs of these sizes find them. session.warmup, or compile: ahead, does it before the first.',
  };
}

function uploads(run: RunTimeline): Advice | undefined {
  const events = eventsOfKind(run, 'upload');
  const ms = unionMs(events);
  return {
    kind: 'uploads',
    ms,
    reason: `Uploading ${formatBytes(bytesOf(events))} takes ${partOf(run, ms)}.`,
    remedy:
      'What a run before has made can stay on the device (keep), and constants belong in the program.',
  };
}

/** Time in which the run waits for results and the device computes nothing. */
function waiting(run: RunTimeline, rates: DeviceRates | undefined): Advice | undefined {
  const readbacks = eventsOfKind(run, 'readback');
  const ms = unionWithoutMs(readbacks, eventsOfKind(run, 'kernel'));
  const trip =
    rates === undefined ? '' : ` A round trip takes ${formatMs(rates.roundTripMs)} on this device.`;
  return {
    kind: 'waiting for readback',
    ms,
    reason:
      `${formatCount(readbacks.length, 'readback')} of ${formatBytes(bytesOf(readbacks))} in all wait for ` +
      `${partOf(run, ms)} while no kernel runs.${trip}`,
    remedy:
      'Results that stay on the device (keep), several inputs in one run, and loops in the program save round trips.',
  };
}

/** Time in which instructions are executed and nothing else goes on: kernels, readbacks, uploads. */
function launching(run: RunTimeline, device: RunTimelines['device']): Advice | undefined {
  const instructions = eventsOfKind(run, 'instruction');
  const calls = instructions.filter(({ isKernelCall }) => isKernelCall === true).length;
  if (calls === 0) return undefined;
  const others = (['kernel', 'readback', 'upload', 'compile'] as const).flatMap((kind) =>
    eventsOfKind(run, kind),
  );
  const ms = unionWithoutMs(instructions, others);
  const kernelMs = unionMs(eventsOfKind(run, 'kernel'));
  const each = formatMs(ms / calls);
  return {
    kind: 'launch-bound',
    ms,
    reason:
      `Instructions and launches of ${formatCount(calls, 'kernel')} take ${partOf(run, ms)}, ${each} for each; ` +
      `kernels run for ${formatMs(kernelMs)}.`,
    remedy:
      device === 'webgpu'
        ? 'Fixed sizes (dims) let more kernels fuse, batches make each do more, and small programs run faster on wasm. Repeated runs are replayed without their instructions.'
        : 'Fixed sizes (dims) let more kernels fuse, and batches make each do more.',
  };
}

function kernels(run: RunTimeline, rates: DeviceRates | undefined): readonly Advice[] {
  return kernelLoads(run, rates)
    .slice(0, MOST_KERNELS)
    .flatMap((load) => {
      const advice = kernelAdvice(run, load, rates);
      return advice === undefined ? [] : [advice];
    });
}

function kernelAdvice(
  run: RunTimeline,
  { kernel, calls, totalMs: ms, operations = 0, bytes = 0, share, bound }: KernelLoad,
  rates: DeviceRates | undefined,
): Advice | undefined {
  if (ms === undefined) return undefined;
  const takes = `${kernel} takes ${partOf(run, ms)} in ${formatCount(calls, 'call')}`;
  if (bound === undefined || rates === undefined || share === undefined) {
    return { kind: 'slow kernel', ms, reason: `${takes}.`, remedy: TUNE };
  }
  const memory = `${formatRate(bytes / ms, 'B')} of the ${formatRate(rates.bytesPerMs, 'B')}`;
  const computing = `${formatRate(operations / ms, 'FLOP')} of the ${formatRate(rates.operationsPerMs, 'FLOP')}`;
  const measured = 'that this device was measured at';
  switch (bound) {
    case 'memory':
      return {
        kind: 'bandwidth-bound',
        ms,
        reason: `${takes}: ${memory} ${measured}.`,
        remedy:
          'It waits for memory: smaller numbers (float16, weights of 8 or 4 bits) and fusion move less.',
      };
    case 'computing':
      return {
        kind: 'compute-bound',
        ms,
        reason: `${takes}: ${computing} ${measured}.`,
        remedy:
          'It computes nearly as fast as products of matrices do here: only less work is faster.',
      };
    case 'launches':
      return {
        kind: 'launch-bound',
        ms,
        reason: `${takes}; its work needs less than the ${formatMs(rates.launchMs)} of a launch.`,
        remedy: 'Fixed sizes (dims) let more kernels fuse, and batches make each do more.',
      };
    default:
      return {
        kind: 'slow kernel',
        ms,
        reason: `${takes}: ${computing} and ${memory} ${measured}, ${percent(share)} of what is possible.`,
        remedy: TUNE,
      };
  }
}

const TUNE = 'session.tune looks for faster variants.';

/** Of so many each millisecond: `1.2 GFLOP/s`; G is 10^9. */
export function formatRate(perMs: number, unit: 'B' | 'FLOP'): string {
  const prefixes = ['', 'K', 'M', 'G', 'T'];
  const power = Math.floor(Math.log10(Math.max(perMs * 1000, 1)) / 3);
  const prefix = Math.min(power, prefixes.length - 1);
  const value = (perMs * 1000) / 1000 ** prefix;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${prefixes[prefix]}${unit}/s`;
}

function noTimes({ untimedKernels, totalMs }: RunTimeline): readonly Advice[] {
  if (untimedKernels === 0) return [];
  return [
    {
      kind: 'no times',
      ms: totalMs,
      reason: `The adapter has no timestamps, so the times of ${formatCount(untimedKernels, 'kernel')} are not known.`,
      remedy: 'Kernels may run while the run waits for readbacks.',
    },
  ];
}
