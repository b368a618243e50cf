import type { Allocator, AllocatorCounters } from './allocator/allocator.ts';

/** Bytes that a machine holds, over all its devices and for each. */
export interface MemoryReport {
  /** Buffers of constants. */
  readonly constantBytes: number;
  /** Buffers of storages in use. */
  readonly liveBytes: number;
  /** Buffers that wait for reuse. */
  readonly pooledBytes: number;
  /** The sum of the devices' peaks, constants and pooled buffers included. */
  readonly peakBytes: number;
  readonly allocations: number;
  readonly reuses: number;
  readonly devices: readonly DeviceMemory[];
}

export interface DeviceMemory extends AllocatorCounters {
  readonly device: string;
}

export function memoryReport(allocators: readonly Allocator[]): MemoryReport {
  const devices = [...new Set(allocators)].map((allocator) => ({
    device: allocator.device.info.name,
    ...allocator.counters(),
  }));
  const sum = (pick: (memory: DeviceMemory) => number): number =>
    devices.reduce((total, memory) => total + pick(memory), 0);
  return {
    constantBytes: sum((memory) => memory.reservedBytes),
    liveBytes: sum((memory) => memory.liveBytes),
    pooledBytes: sum((memory) => memory.pooledBytes),
    peakBytes: sum((memory) => memory.peakBytes),
    allocations: sum((memory) => memory.allocations),
    reuses: sum((memory) => memory.reuses),
    devices,
  };
}
