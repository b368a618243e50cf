import type { KernelTiming } from '../../device/device.ts';
import type { Allocator } from '../allocator/allocator.ts';
import type { CallOutcome } from '../call.ts';
import { release, type Value } from '../values/value.ts';

/** The result of a profiled call, and its times. */
export interface Profile {
  /** The caller owns one reference. */
  readonly result: Value;
  /** Launches on all devices, in order for each device. */
  readonly timings: readonly KernelTiming[];
  /** Bytecode instructions that were executed. */
  readonly instructionCount: number;
}

/**
 * Calls, and records the launches of all devices meanwhile. A file of its own, loaded when needed.
 */
export async function profileCall(
  allocators: readonly Allocator[],
  call: () => Promise<CallOutcome>,
): Promise<Profile> {
  const devices = [...new Set(allocators)].map(({ device }) => device);
  const stops = await Promise.all(devices.map((device) => device.startProfile()));
  const stop = () => Promise.all(stops.map((stopDevice) => stopDevice()));
  const { value, instructionCount } = await call().catch(async (error: unknown) => {
    await stop().catch(() => undefined);
    throw error;
  });
  try {
    return { result: value, timings: (await stop()).flat(), instructionCount };
  } catch (error) {
    release(value);
    throw error;
  }
}
