import type { LaunchAmount } from '../../core/contracts/device-rates.ts';
import type {
  RunTimeline,
  TimelineEvent,
  TimelineKind,
  TimelineStorage,
} from '../../core/contracts/run-timeline.ts';

/** An event of so many milliseconds from a moment on. */
export function timelineEvent(
  kind: TimelineKind,
  name: string,
  [beginMs, lengthMs]: readonly [number, number],
  rest: Partial<TimelineEvent> = {},
): TimelineEvent {
  return { kind, name, beginMs, endMs: beginMs + lengthMs, ...rest };
}

/** An instruction that launches a kernel, and the kernel on the device. */
export function launchedKernel(
  name: string,
  [beginMs, lengthMs]: readonly [number, number],
  work?: LaunchAmount,
): readonly TimelineEvent[] {
  return [
    timelineEvent('instruction', name, [beginMs, 0.01], {
      isKernelCall: true,
      work,
      at: { function: 'main', instruction: Math.round(beginMs) },
    }),
    timelineEvent('kernel', name, [beginMs, lengthMs], { label: `${name}.wgsl` }),
  ];
}

/** A run of these events. */
export function timelineRun(
  totalMs: number,
  events: readonly TimelineEvent[],
  rest: Partial<RunTimeline> = {},
): RunTimeline {
  return {
    totalMs,
    events: events.toSorted((a, b) => a.beginMs - b.beginMs),
    storages: [],
    instructions: events.filter(({ kind }) => kind === 'instruction').length,
    instructionsLeftOut: 0,
    untimedKernels: 0,
    ...rest,
  };
}

/** A storage that is held for a stretch of time. */
export function timelineStorage(
  name: string,
  bytes: number,
  [beginMs, endMs]: readonly [number, number],
  order: readonly [number, number],
): TimelineStorage {
  return {
    device: 'gpu',
    name,
    at: { function: 'main', instruction: 1 },
    bytes,
    beginMs,
    endMs,
    order,
  };
}
