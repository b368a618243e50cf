import { CLOCK, type Clock } from '../../core/async/clock.ts';

/** All spare memory together. */
const KEPT_BYTE_LENGTH = 64 * 1024 * 1024;
/** Spare memory is given up when no run has ended for this long. */
const KEPT_MS = 5000;

/** To detach less takes longer than to get new memory: 12 microseconds for each run of a small model. */
export const LEAST_ROOM = 64 * 1024;

/**
 * Memory that nobody uses, for inputs and results of later runs: a system hands new memory out page by
 * page, which takes longer than to copy into it.
 */
export class SpareMemory {
  readonly #clock: Clock;
  /** Memory of past inputs and results, the most recently used first. */
  #spares: ArrayBuffer[] = [];
  /** Memory of results that were disposed of; the results of the next run are written to it. */
  #room: ArrayBuffer[] = [];
  #isTimed = false;
  /** When the last run ended. */
  #lastUse = 0;

  constructor(clock: Clock = CLOCK) {
    this.#clock = clock;
  }

  /** Keeps memory, the latest 64 MB in all. */
  keep(buffers: readonly ArrayBuffer[]): void {
    let byteLength = 0;
    this.#spares = [...buffers, ...this.#spares].filter(
      (buffer) => (byteLength += buffer.byteLength) <= KEPT_BYTE_LENGTH,
    );
    this.#lastUse = this.#clock.now();
    if (!this.#isTimed) this.#giveUpAfter(KEPT_MS);
  }

  /** Memory of `byteLength` bytes, or up to twice as many, that nobody else has. */
  take(byteLength: number): ArrayBuffer | undefined {
    const index = this.#spares.findIndex(
      (spare) => byteLength <= spare.byteLength && spare.byteLength <= 2 * byteLength,
    );
    return index < 0 ? undefined : this.#spares.splice(index, 1)[0];
  }

  /** All room there is, which is then gone; what a run does not need of it is spare. */
  takeRoom(): ArrayBuffer[] {
    return this.#room.splice(0);
  }

  /** Takes the memory of a result. */
  keepRoom(buffer: ArrayBuffer): void {
    this.#room.push(structuredClone(buffer, { transfer: [buffer] }));
    this.keep([]);
  }

  /** One timer for many runs: to set one takes longer than the rest. */
  #giveUpAfter(delayMs: number): void {
    this.#isTimed = true;
    this.#clock.after(delayMs, () => {
      const left = this.#lastUse + KEPT_MS - this.#clock.now();
      if (left > 0) return this.#giveUpAfter(left);
      this.#isTimed = false;
      this.#spares = [];
      this.#room = [];
    });
  }
}

export const SPARE_MEMORY = new SpareMemory();
