import { internalError } from '../../core/errors.ts';
import type { Device, DeviceBuffer } from '../../device/device.ts';
import { StorageValue } from '../values/value.ts';
import {
  type Allocator,
  type AllocatorCounters,
  type AllocatorOptions,
  allocatesAfterDispose,
  beyondBufferLimit,
  outOfBudget,
  type StorageObserver,
} from '../allocator/allocator.ts';
import { STORAGE_ALIGNMENT } from '../allocator/size-class.ts';

/** One buffer for each storage, destroyed when it comes back: what the pooled one is tested against. */
export class NaiveAllocator implements Allocator {
  /** The device whose memory it hands out. */
  readonly device: Device;
  /** Tells them nothing. */
  readonly observers = new Set<StorageObserver>();
  readonly #budget: number;
  readonly #live = new Set<DeviceBuffer>();
  #liveBytes = 0;
  #reservedBytes = 0;
  #peakBytes = 0;
  #allocations = 0;
  #disposed = false;

  constructor(device: Device, { byteBudget = Number.POSITIVE_INFINITY }: AllocatorOptions = {}) {
    this.device = device;
    this.#budget = byteBudget;
  }

  allocate(byteLength: number): StorageValue {
    if (this.#disposed) throw allocatesAfterDispose(this.device);
    const limit = this.device.info.maxBufferByteLength;
    if (byteLength > limit) throw beyondBufferLimit(this.device, byteLength);
    const capacity = Math.max(STORAGE_ALIGNMENT, Math.ceil(byteLength / 4) * 4);
    this.#checkBudget(capacity, byteLength);
    const buffer = this.device.createBuffer(capacity);
    this.#live.add(buffer);
    this.#liveBytes += capacity;
    this.#allocations++;
    this.#peakBytes = Math.max(this.#peakBytes, this.#liveBytes + this.#reservedBytes);
    return new StorageValue(this, { device: this.device, buffer, byteOffset: 0 }, byteLength);
  }

  /** Destroys the buffer of a storage that nothing refers to any more. */
  reclaim({ buffer }: StorageValue): void {
    if (!this.#live.delete(buffer)) return;
    this.#liveBytes -= buffer.byteLength;
    buffer.destroy();
  }

  isFree(): boolean {
    return false;
  }

  owns(buffer: DeviceBuffer): boolean {
    return this.#live.has(buffer);
  }

  findFree(): undefined {
    return undefined;
  }

  take(): StorageValue {
    throw internalError('no buffer of a naive allocator waits for reuse');
  }

  reserve(byteLength: number): void {
    this.#checkBudget(byteLength, byteLength);
    this.#reservedBytes += byteLength;
    this.#peakBytes = Math.max(this.#peakBytes, this.#liveBytes + this.#reservedBytes);
  }

  trim(): number {
    return 0;
  }

  /** Bytes and storages now and so far. */
  counters(): AllocatorCounters {
    return {
      reservedBytes: this.#reservedBytes,
      liveBytes: this.#liveBytes,
      pooledBytes: 0,
      peakBytes: this.#peakBytes,
      allocations: this.#allocations,
      reuses: 0,
      classes: [],
    };
  }

  dispose(): void {
    this.#disposed = true;
    for (const buffer of this.#live) buffer.destroy();
    this.#live.clear();
    this.#liveBytes = 0;
    this.#reservedBytes = 0;
  }

  #checkBudget(capacity: number, requestedBytes: number): void {
    if (this.#liveBytes + this.#reservedBytes + capacity <= this.#budget) return;
    throw outOfBudget({
      device: this.device.info.name,
      requestedBytes,
      liveBytes: this.#liveBytes,
      pooledBytes: 0,
      reservedBytes: this.#reservedBytes,
      budgetBytes: this.#budget,
    });
  }
}
