import { internalError, OutOfMemoryError } from '../../core/errors.ts';
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
} from './allocator.ts';
import { classBelow, sizeClass, STORAGE_ALIGNMENT } from './size-class.ts';

/** How many times larger than a request a free buffer may be. */
const MAX_EXCESS = 4;
/** So many sizes of a class are taken as they are: a program whose sizes are fixed has few. */
const MAX_EXACT_SIZES = 3;
/** Smaller requests are not worth a larger buffer. */
const SMALL_BYTE_LENGTH = 4096;

interface Pool {
  live: number;
  /** The one made first is last, and is taken first. */
  readonly free: DeviceBuffer[];
}

/**
 * Keeps freed buffers in lists by capacity. A freed buffer may be handed out at once: devices
 * run launches in the order of submission, so its last user is always ahead of the next. Which buffer
 * a request gets depends on nothing but which ones are free: a repeated run meets the same ones. Pooled
 * buffers are given up, the least recently used class first, before a request fails.
 */
export class PooledAllocator implements Allocator {
  /** The device whose memory it hands out. */
  readonly device: Device;
  readonly observers = new Set<StorageObserver>();
  /** The most bytes to hold on the device, reserved ones included; may change. */
  byteBudget: number;
  readonly #onShortage: AllocatorOptions['onShortage'];
  readonly #heldElsewhere: AllocatorOptions['heldElsewhere'];
  /** Sizes that were asked for so far, by size class; one more than are exact for any number. */
  readonly #sizes = new Map<number, Set<number>>();
  /** Free buffers by capacity; a class moves to the end when it is used. */
  readonly #pools = new Map<number, Pool>();
  readonly #live = new Set<DeviceBuffer>();
  /** Serial numbers of all buffers, live and pooled. */
  readonly #serials = new Map<DeviceBuffer, number>();
  #nextSerial = 1;
  #liveBytes = 0;
  #pooledBytes = 0;
  #reservedBytes = 0;
  #peakBytes = 0;
  #allocations = 0;
  #reuses = 0;
  #disposed = false;

  constructor(
    device: Device,
    { byteBudget = Number.POSITIVE_INFINITY, heldElsewhere, onShortage }: AllocatorOptions = {},
  ) {
    this.device = device;
    this.byteBudget = byteBudget;
    this.#heldElsewhere = heldElsewhere;
    this.#onShortage = onShortage;
  }

  allocate(byteLength: number): StorageValue {
    if (this.#disposed) throw allocatesAfterDispose(this.device);
    const limit = this.device.info.maxBufferByteLength;
    if (byteLength > limit) throw beyondBufferLimit(this.device, byteLength);
    const capacity = this.#capacity(byteLength);
    const buffer =
      this.#takeFree(capacity) ??
      this.#takeFree(this.#nextLarger(capacity)) ??
      this.#create(capacity, byteLength);
    const storage = this.#handOut(this.#pool(buffer.byteLength), buffer, byteLength);
    for (const observer of this.observers) observer.allocated(storage);
    return storage;
  }

  isFree(buffer: DeviceBuffer): boolean {
    return this.#serials.has(buffer) && !this.#live.has(buffer);
  }

  owns(buffer: DeviceBuffer): boolean {
    return this.#serials.has(buffer);
  }

  findFree(byteLength: number, except: readonly DeviceBuffer[]): DeviceBuffer | undefined {
    let best: DeviceBuffer | undefined;
    for (const [capacity, { free }] of this.#pools) {
      if (capacity < byteLength || capacity >= (best?.byteLength ?? Infinity)) continue;
      const isUsable = (buffer: DeviceBuffer): boolean =>
        !except.includes(buffer) && buffer.isRefused !== true;
      best = free.findLast(isUsable) ?? best;
    }
    return best;
  }

  take(buffer: DeviceBuffer, byteLength: number): StorageValue {
    const pool = this.#pool(buffer.byteLength);
    const index = pool.free.indexOf(buffer);
    if (index < 0) throw internalError('a buffer is taken that is not free');
    pool.free.splice(index, 1);
    this.#pooledBytes -= buffer.byteLength;
    this.#reuses++;
    return this.#handOut(pool, buffer, byteLength);
  }

  /** Puts the buffer of a storage that nothing refers to any more into the pool. */
  reclaim(storage: StorageValue): void {
    for (const observer of this.observers) observer.reclaimed(storage);
    const { buffer } = storage;
    if (this.#disposed || !this.#live.delete(buffer)) return;
    const pool = this.#pool(buffer.byteLength);
    pool.live--;
    const { free } = pool;
    const serial = this.#serial(buffer);
    let [low, high] = [0, free.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#serial(free[middle]) > serial) low = middle + 1;
      else high = middle;
    }
    free.splice(low, 0, buffer);
    this.#liveBytes -= buffer.byteLength;
    this.#pooledBytes += buffer.byteLength;
  }

  reserve(byteLength: number): void {
    // Who gives back does so to make room.
    if (byteLength >= 0) this.#makeRoom(byteLength, byteLength);
    this.#reservedBytes += byteLength;
    this.#updatePeak();
  }

  trim(): number {
    return this.#evict(this.#pooledBytes);
  }

  /** Bytes and storages now and so far. */
  counters(): AllocatorCounters {
    const classes = [...this.#pools]
      .map(([byteLength, { live, free }]) => ({ byteLength, live, pooled: free.length }))
      .filter(({ live, pooled }) => live + pooled > 0)
      .sort((a, b) => a.byteLength - b.byteLength);
    return {
      reservedBytes: this.#reservedBytes,
      liveBytes: this.#liveBytes,
      pooledBytes: this.#pooledBytes,
      peakBytes: this.#peakBytes,
      allocations: this.#allocations,
      reuses: this.#reuses,
      classes,
    };
  }

  dispose(): void {
    this.trim();
    this.#disposed = true;
    for (const buffer of this.#live) buffer.destroy();
    this.#live.clear();
    this.#serials.clear();
    this.#pools.clear();
    this.#liveBytes = 0;
    this.#reservedBytes = 0;
  }

  #pool(capacity: number): Pool {
    const pool = this.#pools.get(capacity) ?? { live: 0, free: [] };
    this.#pools.delete(capacity);
    this.#pools.set(capacity, pool);
    return pool;
  }

  #serial(buffer: DeviceBuffer | undefined): number {
    return (buffer && this.#serials.get(buffer)) ?? 0;
  }

  #handOut(pool: Pool, buffer: DeviceBuffer, byteLength: number): StorageValue {
    pool.live++;
    this.#live.add(buffer);
    this.#liveBytes += buffer.byteLength;
    this.#allocations++;
    this.#updatePeak();
    return new StorageValue(this, { device: this.device, buffer, byteOffset: 0 }, byteLength);
  }

  /**
   * The first sizes of a class are taken as they are, since most programs ask for the same sizes in
   * every run; others get the whole class, and so do those of the next class: sizes are growing.
   */
  #capacity(byteLength: number): number {
    const limit = this.device.info.maxBufferByteLength;
    const whole = sizeClass(byteLength, limit);
    const exact = Math.min(whole, Math.ceil(byteLength / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT);
    const below = this.#sizes.get(classBelow(whole));
    const isGrowing = below !== undefined && below.size > MAX_EXACT_SIZES;
    const sizes = this.#sizes.get(whole) ?? new Set(isGrowing ? below : []);
    this.#sizes.set(whole, sizes);
    if (sizes.size <= MAX_EXACT_SIZES) sizes.add(exact);
    return sizes.size > MAX_EXACT_SIZES ? whole : Math.max(exact, STORAGE_ALIGNMENT);
  }

  /** The capacity of the smallest free buffer that is not too large. */
  #nextLarger(capacity: number): number {
    if (capacity < SMALL_BYTE_LENGTH) return capacity;
    let best = Number.POSITIVE_INFINITY;
    for (const [candidate, { free }] of this.#pools) {
      if (free.length > 0 && candidate > capacity && candidate < best) best = candidate;
    }
    return best <= MAX_EXCESS * capacity ? best : capacity;
  }

  #takeFree(capacity: number): DeviceBuffer | undefined {
    const buffer = this.#pools.get(capacity)?.free.pop();
    if (buffer === undefined) return undefined;
    this.#pooledBytes -= capacity;
    if (buffer.isRefused === true) {
      this.#serials.delete(buffer);
      buffer.destroy();
      return this.#takeFree(capacity);
    }
    this.#reuses++;
    return buffer;
  }

  #create(capacity: number, requested: number): DeviceBuffer {
    this.#makeRoom(capacity, requested);
    const create = (): DeviceBuffer => {
      const buffer = this.device.createBuffer(capacity);
      this.#serials.set(buffer, this.#nextSerial++);
      return buffer;
    };
    try {
      return create();
    } catch (error) {
      if (!(error instanceof OutOfMemoryError) || this.trim() === 0) throw error;
      return create();
    }
  }

  #makeRoom(capacity: number, requested: number): void {
    const excess = (): number =>
      this.#liveBytes +
      this.#pooledBytes +
      this.#reservedBytes +
      (this.#heldElsewhere?.() ?? 0) +
      capacity -
      this.byteBudget;
    if (excess() <= 0) return;
    if (excess() > this.#pooledBytes) this.#onShortage?.(excess() - this.#pooledBytes);
    if (excess() > this.#pooledBytes) throw this.#shortage(requested);
    this.#evict(excess());
  }

  /** Destroys pooled buffers until so many bytes are gone. */
  #evict(byteLength: number): number {
    let evicted = 0;
    for (const [capacity, { free }] of this.#pools) {
      while (evicted < byteLength) {
        const buffer = free.pop();
        if (buffer === undefined) break;
        this.#serials.delete(buffer);
        buffer.destroy();
        evicted += capacity;
      }
    }
    this.#pooledBytes -= evicted;
    return evicted;
  }

  #updatePeak(): void {
    const held = this.#liveBytes + this.#pooledBytes + this.#reservedBytes;
    if (held > this.#peakBytes) this.#peakBytes = held;
  }

  #shortage(requestedBytes: number): OutOfMemoryError {
    return outOfBudget({
      device: this.device.info.name,
      requestedBytes,
      liveBytes: this.#liveBytes,
      pooledBytes: this.#pooledBytes,
      reservedBytes: this.#reservedBytes,
      budgetBytes: this.byteBudget,
    });
  }
}
