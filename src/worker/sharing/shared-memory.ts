import type { Device, DeviceBuffer } from '../../device/device.ts';
import {
  type Allocator,
  type AllocatorCounters,
  allocatesAfterDispose,
  type StorageObserver,
  outOfBudget,
} from '../../runtime/allocator/allocator.ts';
import { PooledAllocator } from '../../runtime/allocator/pooled-allocator.ts';
import { StorageValue } from '../../runtime/values/value.ts';

interface SharedMemoryOptions {
  /** The most bytes that all sessions hold on the device: weights, tensors in use and the pool. */
  readonly byteBudget: number;
  /** Asked to give back so many bytes of weights before a request fails. */
  readonly onShortage: (byteLength: number) => void;
}

/** Memory of a device for several sessions: one budget, and one pool that all of them take from. */
export class SharedMemory {
  readonly device: Device;
  readonly pool: PooledAllocator;
  /** Buffers that were handed out before. */
  readonly known = new WeakSet<DeviceBuffer>();

  constructor(device: Device, { byteBudget, onShortage }: SharedMemoryOptions) {
    this.device = device;
    this.pool = new PooledAllocator(device, { byteBudget, onShortage });
  }

  get byteBudget(): number {
    return this.pool.byteBudget;
  }

  /** A session's view of the memory, which holds at most `byteBudget` bytes. */
  allocator(byteBudget?: number): SessionAllocator {
    return new SessionAllocator(this, byteBudget);
  }
}

/** One session's part of a {@link SharedMemory}. Freed buffers serve the other sessions too. */
export class SessionAllocator implements Allocator {
  readonly device: Device;
  readonly observers = new Set<StorageObserver>();
  reservedBytes = 0;
  liveBytes = 0;
  /** The most that tensors in use took up at one time, since {@link forgetPeak}. */
  peakLiveBytes = 0;
  readonly #memory: SharedMemory;
  readonly #budget: number;
  readonly #live = new Map<DeviceBuffer, StorageValue>();
  #peakBytes = 0;
  #allocations = 0;
  #reuses = 0;
  #isDisposed = false;

  constructor(memory: SharedMemory, byteBudget = Number.POSITIVE_INFINITY) {
    this.device = memory.device;
    this.#memory = memory;
    this.#budget = byteBudget;
  }

  allocate(byteLength: number): StorageValue {
    if (this.#isDisposed) throw allocatesAfterDispose(this.device);
    this.#checkBudget(byteLength);
    const storage = this.#handOut(this.#memory.pool.allocate(byteLength).buffer, byteLength);
    for (const observer of this.observers) observer.allocated(storage);
    return storage;
  }

  isFree(buffer: DeviceBuffer): boolean {
    return this.#memory.pool.isFree(buffer);
  }

  owns(buffer: DeviceBuffer): boolean {
    return this.#memory.pool.owns(buffer);
  }

  findFree(byteLength: number, except: readonly DeviceBuffer[]): DeviceBuffer | undefined {
    return this.#memory.pool.findFree(byteLength, except);
  }

  take(buffer: DeviceBuffer, byteLength: number): StorageValue {
    return this.#handOut(this.#memory.pool.take(buffer, byteLength).buffer, byteLength);
  }

  reclaim(storage: StorageValue): void {
    for (const observer of this.observers) observer.reclaimed(storage);
    const { buffer } = storage;
    if (this.#live.get(buffer) !== storage) return;
    this.#live.delete(buffer);
    this.liveBytes -= buffer.byteLength;
    this.#memory.pool.reclaim(storage);
  }

  reserve(byteLength: number): void {
    this.#checkBudget(byteLength);
    this.#memory.pool.reserve(byteLength);
    this.reservedBytes += byteLength;
    this.#updatePeak();
  }

  forgetPeak(): void {
    this.peakLiveBytes = this.liveBytes;
  }

  trim(): number {
    return this.#memory.pool.trim();
  }

  counters(): AllocatorCounters {
    return {
      reservedBytes: this.reservedBytes,
      liveBytes: this.liveBytes,
      pooledBytes: this.#memory.pool.counters().pooledBytes,
      peakBytes: this.#peakBytes,
      allocations: this.#allocations,
      reuses: this.#reuses,
      classes: [],
    };
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const storage of this.#live.values()) this.reclaim(storage);
    if (this.reservedBytes > 0) this.reserve(-this.reservedBytes);
  }

  #handOut(buffer: DeviceBuffer, byteLength: number): StorageValue {
    const storage = new StorageValue(
      this,
      { device: this.device, buffer, byteOffset: 0 },
      byteLength,
    );
    this.#live.set(buffer, storage);
    this.liveBytes += buffer.byteLength;
    this.#allocations++;
    if (this.#memory.known.has(buffer)) this.#reuses++;
    this.#memory.known.add(buffer);
    this.#updatePeak();
    return storage;
  }

  #updatePeak(): void {
    this.peakLiveBytes = Math.max(this.peakLiveBytes, this.liveBytes);
    this.#peakBytes = Math.max(this.#peakBytes, this.liveBytes + this.reservedBytes);
  }

  #checkBudget(requestedBytes: number): void {
    const { liveBytes, reservedBytes } = this;
    if (liveBytes + reservedBytes + requestedBytes <= this.#budget) return;
    const held = { requestedBytes, liveBytes, pooledBytes: 0, reservedBytes };
    throw outOfBudget({ device: this.device.info.name, ...held, budgetBytes: this.#budget });
  }
}
