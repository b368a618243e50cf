import { CLOCK, type Clock, sleep } from '../../core/async/clock.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { TuningTurns } from '../../device/device.ts';
import type { SharedDevice } from './device-pool.ts';

/** A session that has been idle for so long may stay so for a while: pages run models at every frame. */
const QUIET_MS = 200;

/**
 * Turns on a device while nobody else has used it for a while. Work that comes during a turn begins
 * behind it, and no other turn begins before the device is quiet again.
 */
export class IdleTurns implements TuningTurns {
  readonly #device: SharedDevice;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  /** Uses of the device up to the end of the last turn; none at first. */
  #useCount = -1;

  constructor(device: SharedDevice, signal: AbortSignal, clock: Clock = CLOCK) {
    this.#device = device;
    this.#signal = signal;
    this.#clock = clock;
  }

  async idle(): Promise<void> {
    // Messages that have arrived come first.
    await macrotask();
    this.#signal.throwIfAborted();
    const device = this.#device;
    while (!device.isIdle() || device.useCount !== this.#useCount) {
      this.#useCount = device.useCount;
      await untilAborted(sleep(this.#clock, QUIET_MS), this.#signal);
    }
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.idle();
    // The use that begins here.
    this.#useCount++;
    return this.#device.exclude(work, this.#signal);
  }
}
