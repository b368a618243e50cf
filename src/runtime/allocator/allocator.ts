import { OutOfMemoryError, UsageError } from '../../core/errors.ts';
import type { Device, DeviceBuffer } from '../../device/device.ts';
import type { StorageOwner, StorageValue } from '../values/value.ts';

/** Hands out storages of one device. A storage comes back when its last reference is released. */
export interface Allocator extends StorageOwner {
  /** The device whose memory it hands out. */
  readonly device: Device;

  /** Those who observe its storages. */
  readonly observers: Set<StorageObserver>;

  /** A storage without references. Throws OutOfMemoryError; `byteLength` is an integer from 0 up. */
  allocate(byteLength: number): StorageValue;

  /** Returns true if a buffer of this allocator waits for reuse. */
  isFree(buffer: DeviceBuffer): boolean;

  /** Returns true if this allocator made the buffer. */
  owns(buffer: DeviceBuffer): boolean;

  /** The smallest buffer of at least so many bytes that {@link isFree}, but those of `except`. */
  findFree(byteLength: number, except: readonly DeviceBuffer[]): DeviceBuffer | undefined;

  /** A storage without references over a buffer that {@link isFree}. */
  take(buffer: DeviceBuffer, byteLength: number): StorageValue;

  /**
   * Counts bytes that somebody else holds on the device (constants) against the budget; a negative
   * number gives them back.
   */
  reserve(byteLength: number): void;

  /** Destroys pooled buffers and returns their bytes. */
  trim(): number;

  /** Bytes and storages now and so far. */
  counters(): AllocatorCounters;

  /** Destroys all buffers, those in use too. Storages that come back later are ignored. */
  dispose(): void;
}

export interface StorageObserver {
  allocated(storage: StorageValue): void;
  /** Called before its memory may serve another one. */
  reclaimed(storage: StorageValue): void;
}

/** Bytes that an allocator holds and has handed out. */
export interface AllocatorCounters {
  readonly reservedBytes: number;
  /** Bytes of buffers in use, unused ends included. */
  readonly liveBytes: number;
  /** Bytes of buffers that wait for reuse. */
  readonly pooledBytes: number;
  /** The most that reserved, live and pooled bytes have been together. */
  readonly peakBytes: number;
  /** Storages handed out, and how many of them came from the pool. */
  readonly allocations: number;
  /** Storages that came from the pool. */
  readonly reuses: number;
  readonly classes: readonly SizeClassCounters[];
}

interface SizeClassCounters {
  readonly byteLength: number;
  readonly live: number;
  /** Buffers that wait for reuse. */
  readonly pooled: number;
}

/** Limits of an allocator. */
export interface AllocatorOptions {
  /** The most bytes to hold on the device, reserved ones included. Default: no bound. */
  readonly byteBudget?: number | undefined;
  /** Bytes of the budget that others hold. Default: none. */
  readonly heldElsewhere?: (() => number) | undefined;
  /** Asked to give back so many reserved bytes before a request fails, if it can. */
  readonly onShortage?: ((byteLength: number) => void) | undefined;
}

interface Shortage {
  readonly device: string;
  readonly requestedBytes: number;
  readonly liveBytes: number;
  readonly pooledBytes: number;
  readonly reservedBytes: number;
  readonly budgetBytes: number;
}

/** The error of a request that does not fit, with all sizes in bytes in the message and details. */
export function outOfBudget(shortage: Shortage): OutOfMemoryError {
  const { device, requestedBytes, liveBytes, pooledBytes, reservedBytes, budgetBytes } = shortage;
  return new OutOfMemoryError(
    {
      where: `allocation on ${device}`,
      got:
        `a request of ${requestedBytes} bytes with ${liveBytes} live, ${pooledBytes} pooled ` +
        `and ${reservedBytes} in constants`,
      expected: `at most ${budgetBytes} bytes in all`,
      remedy: 'Raise the byte budget, use a smaller batch, or dispose of other sessions.',
    },
    { details: { requestedBytes, liveBytes, pooledBytes, reservedBytes, budgetBytes } },
  );
}

/** The error of a request beyond the device's largest buffer. */
export function beyondBufferLimit(device: Device, requestedBytes: number): OutOfMemoryError {
  const limitBytes = device.info.maxBufferByteLength;
  return new OutOfMemoryError(
    {
      where: `allocation on ${device.info.name}`,
      got: `a request of ${requestedBytes} bytes`,
      expected: `at most ${limitBytes}, the device's largest buffer`,
      remedy: 'Use a smaller batch or input.',
    },
    { details: { requestedBytes, limitBytes } },
  );
}

/** The error of a request that comes when the machine has ended. */
export function allocatesAfterDispose(device: Device): UsageError {
  return new UsageError({
    where: `allocation on ${device.info.name}`,
    got: 'a request after dispose',
    expected: 'a live machine',
  });
}
