import { macrotask } from '../../core/async/macrotask.ts';
import type { Device } from '../../device/device.ts';

/** Bounds of how long a batch is to keep the device. */
const MIN_BATCH_MS = 2;
const MAX_BATCH_MS = 16;
/** Launches of a batch while nothing is known of their duration, and at most. */
const FIRST_LAUNCH_LIMIT = 16;
const MAX_LAUNCH_LIMIT = 1024;
/** How long a device that works at once may hold the thread before messages get their turn. */
const HOLD_MS = 8;
/** The weight of the last measurement in a running mean. */
const RECENT = 0.5;

interface SchedulerOptions {
  readonly device: Pick<Device, 'counters' | 'queue'>;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** The right of a call to use the device for one batch of launches. */
export interface DeviceTurn {
  readonly ready: Promise<void>;
  /** Launches of the batch, about; known once it is ready. */
  readonly launchLimit: number;
  /** Lets the next one have the device; also when it is not wanted any more. */
  end(): void;
}

interface Request {
  readonly share: DeviceShare;
  readonly grant: () => void;
  beginMs: number;
  firstLaunch: number;
  isEnding: boolean;
}

/**
 * Shares a device between sessions by stride scheduling (Waldspurger and Weihl, 1995): each batch of
 * launches advances its session's virtual time by the batch's duration divided by the priority, and
 * whoever is furthest behind comes next. One batch is on the device at a time: who comes new waits for
 * the end of that one, and then takes turns with the others. A batch is as long as the shortest run of
 * another session lately (2 to 16 ms), so with one long run beside it a run takes at most twice as long.
 */
export class DeviceScheduler {
  readonly #options: SchedulerOptions;
  readonly #shares = new Set<DeviceShare>();
  readonly #waiting: Request[] = [];
  /** Has the device, until its launches are over. */
  #current: Request | undefined;
  #virtualMs = 0;
  /** Since when the thread did not look at its messages. */
  #heldSinceMs = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#heldSinceMs = options.now();
  }

  /** A session's part, twice as much for twice the priority. */
  join(priority: number): DeviceShare {
    const share = new DeviceShare(priority, {
      take: () => this.#take(share),
      leave: () => this.#shares.delete(share),
    });
    this.#shares.add(share);
    return share;
  }

  #take(share: DeviceShare): DeviceTurn {
    let grant: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      grant = resolve;
    });
    const request: Request = { share, grant, beginMs: 0, firstLaunch: 0, isEnding: false };
    const isIdle =
      this.#current?.share !== share && !this.#waiting.some((other) => other.share === share);
    // Who did not want the device has no claim to the time that passed.
    if (isIdle) share.virtualMs = Math.max(share.virtualMs, this.#virtualMs);
    this.#waiting.push(request);
    this.#grantNext();
    const launchLimit = (): number => this.#launchLimit(share);
    return {
      ready,
      get launchLimit() {
        return launchLimit();
      },
      end: () => this.#end(request),
    };
  }

  #grantNext(): void {
    if (this.#current !== undefined) return;
    let next: Request | undefined;
    for (const request of this.#waiting) {
      if (next === undefined || request.share.virtualMs < next.share.virtualMs) next = request;
    }
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#current = next;
    this.#virtualMs = next.share.virtualMs;
    next.beginMs = this.#options.now();
    next.firstLaunch = this.#options.device.counters().launches;
    next.grant();
  }

  #end(request: Request): void {
    if (this.#current !== request) {
      const index = this.#waiting.indexOf(request);
      if (index >= 0) this.#waiting.splice(index, 1);
      return;
    }
    if (request.isEnding) return;
    request.isEnding = true;
    const { device } = this.#options;
    const launches = device.counters().launches - request.firstLaunch;
    const settle = (): void => this.#settle(request, launches);
    void this.#over(launches).then(settle, settle);
  }

  /** Resolves when the batch is over, and after the call that made it could ask for its next one. */
  async #over(launches: number): Promise<void> {
    const { device, now } = this.#options;
    if (launches > 0) await device.queue?.drain();
    else if (now() - this.#heldSinceMs >= HOLD_MS) await macrotask();
    else return;
    this.#heldSinceMs = now();
  }

  #settle(request: Request, launches: number): void {
    const ms = this.#options.now() - request.beginMs;
    request.share.addBatch(ms, launches);
    this.#current = undefined;
    this.#grantNext();
  }

  #launchLimit(share: DeviceShare): number {
    const { msPerLaunch } = share;
    if (msPerLaunch === undefined) return FIRST_LAUNCH_LIMIT;
    let batchMs = MAX_BATCH_MS;
    for (const other of this.#shares) {
      if (other !== share) batchMs = Math.min(batchMs, other.runMs ?? MAX_BATCH_MS);
    }
    const launches = Math.floor(Math.max(batchMs, MIN_BATCH_MS) / msPerLaunch);
    return Math.min(Math.max(launches, 1), MAX_LAUNCH_LIMIT);
  }
}

/** A session's part of a device. */
export class DeviceShare {
  readonly priority: number;
  readonly take: () => DeviceTurn;
  readonly leave: () => void;
  /** Device time divided by the priority, by which the scheduler orders sessions. */
  virtualMs = 0;
  /** A launch of this session lately; undefined before the first one. */
  msPerLaunch: number | undefined;
  /** A run of this session lately. */
  runMs: number | undefined;
  /** Time of the device that this session took. */
  usedMs = 0;
  batches = 0;

  constructor(priority: number, { take, leave }: Pick<DeviceShare, 'take' | 'leave'>) {
    this.priority = priority;
    this.take = take;
    this.leave = leave;
  }

  /** Counts a batch of launches that has ended. */
  addBatch(ms: number, launches: number): void {
    this.batches++;
    this.usedMs += ms;
    this.virtualMs += ms / this.priority;
    if (launches > 0) this.msPerLaunch = recent(this.msPerLaunch, ms / launches);
  }

  /** Counts a run that has ended. */
  addRun(ms: number): void {
    this.runMs = recent(this.runMs, ms);
  }
}

function recent(mean: number | undefined, last: number): number {
  return mean === undefined ? last : mean + (last - mean) * RECENT;
}
