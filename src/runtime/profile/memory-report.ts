import type { Allocator, AllocatorCounters } from '../allocator/allocator.ts';

/** Bytes that a machine holds, over all its devices and for each. */
export interface MemoryReport {
  /** Buffers of constants, also in the form that kernels want. */
  readonly constantBytes: number;
  /** Buffers of storages in use. */
  readonly liveBytes: number;
  /** Buffers that wait for reuse. */
  readonly pooledBytes: number;
  /** Temporary memory of kernels, which all machines on a device share. */
  readonly scratchBytes: number;
  /** The sum of the devices' peaks: constants, pooled buffers and scratch included. */
  readonly peakBytes: number;
  /** Storages handed out so far. */
  readonly allocations: number;
  /** How many of them came from a pool. */
  readonly reuses: number;
  /** The same for each device. */
  readonly devices: readonly DeviceMemory[];
}

interface DeviceMemory extends AllocatorCounters {
  readonly device: string;
  /** Temporary memory of kernels on the device. */
  readonly scratchBytes: number;
}

export function memoryReport(allocators: readonly Allocator[]): MemoryReport {
  const devices = [...new Set(allocators)].map((allocator) => ({
    device: allocator.device.info.name,
    scratchBytes: allocator.device.counters().scratchBytes ?? 0,
    ...allocator.counters(),
  }));
  const sum = (pick: (memory: DeviceMemory) => number): number =>
    devices.reduce((total, memory) => total + pick(memory), 0);
  return {
    constantBytes: sum((memory) => memory.reservedBytes),
    liveBytes: sum((memory) => memory.liveBytes),
    pooledBytes: sum((memory) => memory.pooledBytes),
    scratchBytes: sum((memory) => memory.scratchBytes),
    peakBytes: sum((memory) => memory.peakBytes + memory.scratchBytes),
    allocations: sum((memory) => memory.allocations),
    reuses: sum((memory) => memory.reuses),
    devices,
  };
}
