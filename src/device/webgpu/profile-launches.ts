import { CLOCK, type Clock } from '../../core/async/clock.ts';
import { shadowMethod } from '../../core/shadow-method.ts';
import type { Compilation, KernelTiming } from '../device.ts';
import type { BufferTable } from './buffers.ts';
import type { CommandQueue } from './command-queue.ts';
import type { DeviceFaults } from './device-faults.ts';
import { LaunchProfiler } from './launch-profiler.ts';

export interface ProfileContext {
  readonly device: GPUDevice;
  readonly hasTimestamps: boolean;
  readonly faults: DeviceFaults;
  readonly buffers: BufferTable;
  readonly queue: CommandQueue;
  readonly onCompilation: ((compilation: Compilation) => void) | undefined;
  /** See {@link Device.synchronize}. */
  readonly synchronize: () => Promise<void>;
  /** Contents of a staging buffer after the commands that fill it. */
  readonly readBack: (
    byteLengths: readonly number[],
    record: (encoder: GPUCommandEncoder, staging: GPUBuffer) => void,
  ) => Promise<Uint8Array[]>;
}

/** See {@link Device.startProfile}. A file of its own, loaded with the first profile. */
export function startProfile(context: ProfileContext): () => Promise<readonly KernelTiming[]> {
  const { queue, device, buffers, hasTimestamps } = context;
  context.faults.throwIfEnded();
  queue.flush();
  queue.recording?.invalidate();
  queue.profiler ??= new LaunchProfiler(device, buffers, hasTimestamps);
  const { profiler } = queue;
  const { onCompilation } = context;
  const clock = onCompilation && new LaunchClock(device, profiler, { onCompilation });
  const first = profiler.launchCount;
  profiler.userCount++;
  let timings: Promise<readonly KernelTiming[]> | undefined;
  return () => {
    timings ??= stopProfile(profiler, { first, clock }, context);
    return timings;
  };
}

async function stopProfile(
  profiler: LaunchProfiler,
  { first, clock }: { readonly first: number; readonly clock: LaunchClock | undefined },
  context: ProfileContext,
): Promise<readonly KernelTiming[]> {
  const last = profiler.launchCount;
  profiler.userCount--;
  const isLast = profiler.userCount === 0;
  if (isLast) context.queue.profiler = undefined;
  try {
    const block = await readTimestamps(profiler, context);
    const begins = clock?.begins(profiler.beginsMs(block), first);
    return profiler
      .timings(block)
      .map((timing, i) => (begins === undefined ? timing : { ...timing, beginMs: begins[i] }))
      .slice(first, last);
  } finally {
    clock?.stop();
    if (isLast) profiler.destroy();
  }
}

async function readTimestamps(
  profiler: LaunchProfiler,
  context: ProfileContext,
): Promise<Uint8Array | undefined> {
  context.faults.throwIfEnded();
  const { byteLength } = profiler;
  if (byteLength === 0) {
    await context.synchronize();
    return undefined;
  }
  const [block] = await context.readBack([byteLength], (encoder, staging) =>
    profiler.resolve(encoder, staging),
  );
  return block;
}

/** A submit, when it was made, and the launches that were recorded by then. */
interface TimedSubmit {
  readonly atMs: number;
  readonly launchCount: number;
}

interface LaunchClockOptions {
  readonly onCompilation: (compilation: Compilation) => void;
  readonly clock?: Clock;
}

/**
 * Puts launches on the clock of `performance.now()`. A GPU has a clock of its own, of which no page knows when it began. No launch
 * begins before it was submitted: of all differences between the two clocks the smallest is taken with which that holds, so
 * launches stand too early by as long as the fastest of them had to wait.
 */
export class LaunchClock {
  readonly #submits: TimedSubmit[] = [];
  readonly #stops: readonly (() => void)[];

  /** Notes down submits, and tells of pipelines that are compiled, until {@link LaunchClock.stop}. */
  constructor(
    device: GPUDevice,
    launches: { readonly launchCount: number },
    { onCompilation, clock = CLOCK }: LaunchClockOptions,
  ) {
    const told = ({ label = '' }: GPUComputePipelineDescriptor, beginMs: number): void =>
      onCompilation({ label, beginMs, endMs: clock.now() });
    this.#stops = [
      shadowMethod(device, 'createCommandEncoder', (create) => (descriptor) => {
        const encoder = create(descriptor);
        // The last that is done before a submit, during which a GPU may begin.
        shadowMethod(encoder, 'finish', (finish) => (end) => {
          this.#submits.push({ atMs: clock.now(), launchCount: launches.launchCount });
          return finish(end);
        });
        return encoder;
      }),
      shadowMethod(device, 'createComputePipelineAsync', (create) => (descriptor) => {
        const beginMs = clock.now();
        return create(descriptor).finally(() => told(descriptor, beginMs));
      }),
      shadowMethod(device, 'createComputePipeline', (create) => (descriptor) => {
        const beginMs = clock.now();
        const pipeline = create(descriptor);
        told(descriptor, beginMs);
        return pipeline;
      }),
    ];
  }

  /**
   * Begins on this clock from those on the GPU's, in the order of the launches, of which `first` is the first since this began;
   * undefined for NaN.
   */
  begins(onGpu: readonly number[], first: number): readonly (number | undefined)[] {
    let offset = Number.NEGATIVE_INFINITY;
    let submit = 0;
    for (const [launch, begin] of onGpu.entries()) {
      if (launch < first) continue;
      while ((this.#submits[submit]?.launchCount ?? Infinity) <= launch) submit++;
      const { atMs } = this.#submits[submit] ?? {};
      if (atMs !== undefined && !Number.isNaN(begin)) offset = Math.max(offset, atMs - begin);
    }
    const isKnown = Number.isFinite(offset);
    return onGpu.map((begin) => (isKnown && !Number.isNaN(begin) ? begin + offset : undefined));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
