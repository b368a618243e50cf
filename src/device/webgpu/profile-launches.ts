import type { KernelTiming } from '../device.ts';
import type { BufferTable } from './memory/buffers.ts';
import type { CommandQueue } from './command-queue.ts';
import type { DeviceFaults } from './faults/device-faults.ts';
import { LaunchProfiler } from './launch-profiler.ts';

interface ProfileContext {
  readonly device: GPUDevice;
  readonly hasTimestamps: boolean;
  readonly faults: DeviceFaults;
  readonly buffers: BufferTable;
  readonly queue: CommandQueue;
  /** Somebody wants to know when launches began. */
  readonly isObserved: boolean;
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
  queue.profiler ??= new LaunchProfiler(device, buffers, { hasTimestamps });
  const { profiler } = queue;
  const first = profiler.launchCount;
  profiler.userCount++;
  let timings: Promise<readonly KernelTiming[]> | undefined;
  return () => {
    timings ??= stopProfile(profiler, first, context);
    return timings;
  };
}

async function stopProfile(
  profiler: LaunchProfiler,
  first: number,
  context: ProfileContext,
): Promise<readonly KernelTiming[]> {
  const last = profiler.launchCount;
  profiler.userCount--;
  const isLast = profiler.userCount === 0;
  if (isLast) context.queue.profiler = undefined;
  try {
    const block = await readTimestamps(profiler, context);
    const begins = context.isObserved ? profiler.beginsMs(block, first) : undefined;
    return profiler
      .timings(block)
      .map((timing, i) => (begins === undefined ? timing : { ...timing, beginMs: begins[i] }))
      .slice(first, last);
  } finally {
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
