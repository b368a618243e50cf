import { DeviceLostError } from '../../../core/errors.ts';
import type { LaunchOwner } from '../../device.ts';

/**
 * How long a device may finish nothing before it counts as lost. Drivers of GPUs reset one after 2 to
 * 10 s themselves. A software adapter never does, and takes seconds for one submit of a large model.
 */
export const DEFAULT_DEVICE_TIMEOUT_MS = 30_000;

/** How often a device that is waited for is looked at: ten times within its time, at most so far apart. */
const LOOKS = 10;
const LONGEST_PAUSE_MS = 1000;
const SHORTEST_PAUSE_MS = 10;
/** Launches of a submit on a software adapter, where one may take seconds, before any submit has ended. */
export const FIRST_MOST_LAUNCHES = 4;
/** Nobody submits more launches at once, so from here on there need not be a limit. */
const ENOUGH_LAUNCHES = 48;
const MAX_NAMES = 8;
/** A loss while an owner's kernels ran may be chance and counts once; a device that does not answer counts twice. */
const LOSS_FAULTS = 1;
const STUCK_FAULTS = 2;

export interface SubmittedLaunch {
  readonly owner: LaunchOwner | undefined;
  readonly primitive: string;
  readonly label: string;
}

/** Launches of one submit, a list of them where they were replayed. */
type SubmittedWork = readonly (SubmittedLaunch | readonly SubmittedLaunch[])[];

interface Submission {
  readonly serial: number;
  readonly work: SubmittedWork;
}

interface WatchdogOptions {
  /** The timeout of work that nobody owns; see {@link LaunchOwner.deviceTimeout}. */
  readonly timeoutMs: number;
  /** Launches that one submit should have at most until submits have ended. Default: any number. */
  readonly mostLaunches?: number | undefined;
  /** Resolves when everything that was submitted so far is over. */
  readonly finish: () => Promise<unknown>;
  /** Resolves when the device has answered, whatever the GPU does. */
  readonly answer: () => Promise<unknown>;
  /** The device is taken for lost. */
  readonly onStuck: (error: DeviceLostError) => void;
}

/**
 * Notices that a device does not answer any more: neither finishes the oldest of its submits, nor,
 * when only its compiler is waited for, answers at all. It measures time without progress, not the
 * duration of a run; time in which this thread was blocked or asleep does not count.
 */
export class DeviceWatchdog {
  readonly #options: WatchdogOptions;
  /** Submits that are not over, the oldest first. */
  #unfinished: Submission[] = [];
  /** Answers other than the end of a submit that somebody waits for. */
  #waiting = 0;
  #isAnswering = false;
  /** How long nothing has happened up to {@link #lookedAt}. */
  #silentMs = 0;
  #lookedAt = 0;
  #timer: unknown;
  #hasEnded = false;
  /** True once the device was given up. */
  isStuck = false;
  #finishedAt = 0;
  /**
   * Launches that one submit should have at most, so that it takes a tenth of the time: submits that
   * took longer make it less.
   */
  mostLaunches: number;
  readonly #onFinished: (() => void)[] = [];

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.mostLaunches = options.mostLaunches ?? Number.POSITIVE_INFINITY;
  }

  /** True while a submit is unfinished. */
  get isBusy(): boolean {
    return this.#unfinished.length > 0;
  }

  /** Tells of a submit. {@link finishes} or {@link probe} has to follow, for this one or a later one. */
  submitted(serial: number, work: SubmittedWork): void {
    if (!this.isBusy) {
      this.#progress();
      this.#finishedAt = this.#lookedAt;
    }
    this.#unfinished.push({ serial, work });
    this.#watch();
  }

  /** `promise`, which resolves when the submits up to `serial` are over. */
  finishes<T>(serial: number, promise: Promise<T>): Promise<T> {
    promise.then(
      () => this.#finished(serial),
      // It failed for another reason, maybe long before they are.
      () => this.probe(serial),
    );
    return promise;
  }

  /** Asks when the submits up to `serial` are over, for nobody else does. */
  probe(serial: number): void {
    if (!this.isBusy) return;
    const over = (): void => this.#finished(serial);
    this.#options.finish().then(over, over);
  }

  /** `promise`, an answer of the device for which the GPU need not do anything. */
  answers<T>(promise: Promise<T>): Promise<T> {
    if (this.#waiting++ === 0 && !this.isBusy) this.#progress();
    const answered = (): void => {
      this.#waiting--;
      if (!this.isBusy) this.#progress();
    };
    promise.then(answered, answered);
    this.#watch();
    return promise;
  }

  /** Calls back when nothing that was submitted is under way: at once, later, or never. */
  whenFinished(callback: () => void): void {
    if (this.isBusy) this.#onFinished.push(callback);
    else callback();
  }

  /** The device is gone. Counts a fault of the owners whose kernels were under way, and returns the kernels. */
  lost(): readonly string[] {
    const kernels = this.#addFaults(LOSS_FAULTS);
    this.#hasEnded = true;
    this.#finished(Number.POSITIVE_INFINITY);
    return kernels;
  }

  #finished(serial: number): void {
    const pending = this.#unfinished.findIndex((submission) => submission.serial > serial);
    const count = pending < 0 ? this.#unfinished.length : pending;
    if (count === 0) return;
    const tookMs = performance.now() - this.#finishedAt;
    // Most submits are short, and nothing has to be computed for them.
    const isShort = tookMs < SHORTEST_PAUSE_MS && this.mostLaunches === Number.POSITIVE_INFINITY;
    const slowness = isShort ? 0 : tookMs / (this.#timeoutMs() / LOOKS);
    this.#adapt(this.#unfinished.splice(0, count), slowness);
    this.#progress();
    this.#finishedAt = this.#lookedAt;
    if (this.isBusy) return;
    for (const callback of this.#onFinished.splice(0)) callback();
  }

  /** `slowness` is how often what was finished took the time that a submit should take. */
  #adapt(finished: readonly Submission[], slowness: number): void {
    if (slowness > 1) {
      const counts = finished.map(({ work }) => work.flat().length);
      const mean = counts.reduce((sum, count) => sum + count, 0) / slowness;
      this.mostLaunches = Math.max(1, Math.floor(mean));
    } else if (slowness < 0.5 && this.mostLaunches < Number.POSITIVE_INFINITY) {
      const isEnough = this.mostLaunches >= ENOUGH_LAUNCHES;
      this.mostLaunches = isEnough ? Number.POSITIVE_INFINITY : this.mostLaunches * 2;
    }
  }

  #progress(): void {
    this.#silentMs = 0;
    this.#lookedAt = performance.now();
  }

  /** One timer for all that comes until it is due. */
  #watch(): void {
    if (this.#timer !== undefined || this.#hasEnded) return;
    const pauseMs = Math.max(
      SHORTEST_PAUSE_MS,
      Math.min(LONGEST_PAUSE_MS, this.#timeoutMs() / LOOKS),
    );
    const timer: unknown = setTimeout(() => this.#look(pauseMs), pauseMs);
    this.#timer = timer;
    // In Node it must not keep the process; who waits for the GPU does.
    (timer as { unref?: () => void }).unref?.();
  }

  #look(pauseMs: number): void {
    this.#timer = undefined;
    const isAwaited = this.#waiting > 0 || this.#isAnswering;
    if (this.#hasEnded || (!this.isBusy && !isAwaited)) return;
    const now = performance.now();
    // After a longer time the thread was blocked or asleep, and answers may lie ready.
    this.#silentMs += Math.min(now - this.#lookedAt, 2 * pauseMs);
    this.#lookedAt = now;
    const timeoutMs = this.#timeoutMs();
    if (this.#silentMs < timeoutMs) {
      const isLate = !this.isBusy || this.#silentMs > timeoutMs / 2;
      if (isLate && !this.#isAnswering) this.#ask();
      return this.#watch();
    }
    this.#hasEnded = true;
    this.isStuck = true;
    const isProcessStuck = this.#isAnswering;
    const kernels = this.#addFaults(isProcessStuck ? LOSS_FAULTS : STUCK_FAULTS);
    this.#options.onStuck(
      isProcessStuck ? stuckProcess(kernels, timeoutMs) : stuckKernels(kernels, timeoutMs),
    );
  }

  #ask(): void {
    this.#isAnswering = true;
    if (!this.isBusy) this.#progress();
    const answered = (): void => {
      this.#isAnswering = false;
      if (!this.isBusy) this.#progress();
    };
    this.#options.answer().then(answered, answered);
  }

  /** The time that the device may take for the oldest submit. */
  #timeoutMs(): number {
    const owners = this.#owners();
    const { timeoutMs } = this.#options;
    if (owners.size === 0) return timeoutMs;
    return Math.max(...Array.from(owners, ({ deviceTimeout = timeoutMs }) => deviceTimeout));
  }

  #launches(): readonly SubmittedLaunch[] {
    const [oldest] = this.#unfinished;
    return oldest?.work.flat() ?? [];
  }

  #owners(): ReadonlySet<LaunchOwner> {
    return new Set(this.#launches().flatMap(({ owner }) => owner ?? []));
  }

  #addFaults(count: number): readonly string[] {
    for (const owner of this.#owners()) owner.faults += count;
    return [...new Set(this.#launches().map(nameOf))];
  }
}

function nameOf({ primitive, label }: SubmittedLaunch): string {
  return primitive === label ? label : `${primitive} (${label})`;
}

export function listKernels(kernels: readonly string[]): string {
  const more = kernels.length > MAX_NAMES ? `, and ${kernels.length - MAX_NAMES} more` : '';
  return kernels.slice(0, MAX_NAMES).join(', ') + more;
}

function stuckKernels(kernels: readonly string[], timeoutMs: number): DeviceLostError {
  const what = kernels.length === 0 ? 'copies' : `the kernels ${listKernels(kernels)}`;
  return new DeviceLostError(
    {
      where: 'WebGPU device',
      got: `no answer in ${timeoutMs} ms, at work on ${what}`,
      expected: 'one of these to end',
      remedy:
        'Load the session again for a new device. If its kernels are slow but end, load it with a larger deviceTimeout.',
    },
    { details: { kernels, timeoutMs } },
  );
}

function stuckProcess(kernels: readonly string[], timeoutMs: number): DeviceLostError {
  return new DeviceLostError(
    {
      where: 'WebGPU device',
      got: `no answer in ${timeoutMs} ms: the browser's GPU process is stuck`,
      expected: 'an answer',
      remedy: 'Restart the browser, or use the host device.',
    },
    { details: { kernels, timeoutMs } },
  );
}
