import { DeviceLostError, internalError } from '../../../core/errors.ts';
import type { WasmCode } from '../wasm-code.ts';
import {
  CONTROL,
  controlByteLength,
  MOST_ARGS,
  ORDERS,
  type ThreadStart,
} from './thread-control.ts';

/** Ends a thread. */
type StopThread = () => void;
/**
 * Starts a thread that calls `serveThread` with what it is given; undefined where there are none.
 * `onError` is called where it could not be started after all, or ended.
 */
export type StartThread = (start: ThreadStart, onError: () => void) => StopThread | undefined;

/** Room for the bytes of a module, which threads read. */
interface SharedBytes {
  readonly address: number;
  readonly bytes: Uint8Array;
  free(): void;
}

interface ThreadPoolOptions {
  readonly memory: WebAssembly.Memory;
  /** Threads beside the calling one. */
  readonly count: number;
  readonly startThread: StartThread;
  /** Waits until threads can do their part; else the caller does all the work until then. */
  readonly isAwaited: boolean;
  /** The least work of a step that threads share: see `WasmKernel.work`. */
  readonly leastSharedWork: number;
  /** Milliseconds that threads may take for their parts when this one has done its own. */
  readonly patienceMs: number;
  allocate(byteLength: number): SharedBytes;
}

interface Module {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Rounds of looking whether threads are done before this one sleeps, where it may. */
const SPINS = 20_000;

/** Milliseconds of a sleep, behind which it looks again. */
const SLICE_MS = 1000;
/** A thread that is only slow takes no more than so many times as long as this one. */
const SLOWEST = 20;

/** Threads over one shared memory, which do parts of a function's units each. */
export class ThreadPool {
  /** Resolves when a thread ended in its part, or takes far too long: what is in memory is not known then. */
  readonly lost: Promise<DeviceLostError>;
  #lose: ((error: DeviceLostError) => void) | undefined;
  readonly #options: ThreadPoolOptions;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #stops: StopThread[] = [];
  /** Modules that threads do not have yet. */
  readonly #waiting: Module[] = [];
  #loading: SharedBytes | undefined;
  #functions = 0;
  #orders = 0;
  #isStarted = false;
  #isBroken = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#control = new Int32Array(new SharedArrayBuffer(controlByteLength(options.count)));
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  /** Starts the threads, once: programs that share no work do without. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { count, memory, startThread } = this.#options;
    const control = this.#control.buffer;
    for (let index = 0; index < count && !this.#isBroken; index++) {
      const stop = startThread({ memory, control, index }, () => this.#break());
      if (stop === undefined) this.#break();
      else this.#stops.push(stop);
    }
  }

  /** Resolves when all threads wait for orders where that is awaited, or will never do so. */
  async ready(): Promise<void> {
    if (!this.#options.isAwaited) return;
    this.start();
    while (!this.#isBroken && Atomics.load(this.#control, CONTROL.ready) < this.count) {
      await new Promise((wake) => setTimeout(wake, 1));
    }
  }

  /** True if a thread could not be started, or ended: the caller does all the work then. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Threads beside the calling one. */
  get count(): number {
    return this.#options.count;
  }

  /** The least work of a step that threads share; see `WasmKernel.work`. */
  get leastSharedWork(): number {
    return this.#options.leastSharedWork;
  }

  /** Gives threads the functions of a module; the number of the first. */
  load(bytes: Uint8Array, count: number): number {
    const first = this.#functions;
    this.#functions += count;
    if (!this.#isBroken) this.#waiting.push({ bytes, count });
    this.#loadNext();
    return first;
  }

  /**
   * Returns true if threads have all functions and wait for orders. Sends them the functions they
   * lack; until they have them the caller does all the work.
   */
  isReady(): boolean {
    if (this.#isBroken || Atomics.load(this.#control, CONTROL.ready) < this.count) return false;
    this.#loadNext();
    while (this.#options.isAwaited && this.#loading !== undefined) {
      this.#wait();
      this.#loadNext();
    }
    return this.#waiting.length === 0 && this.#loading === undefined;
  }

  /**
   * Runs a function with the arguments of each thread, and `own` with those of the caller meanwhile.
   * Returns when all are done. Throws DeviceLostError where a thread never is.
   */
  run(
    index: number,
    args: readonly (readonly number[])[],
    own: { readonly code: WasmCode; readonly args: readonly number[] },
  ): void {
    const control = this.#control;
    control[CONTROL.first] = index;
    control[CONTROL.count] = own.args.length;
    for (const [thread, values] of args.entries()) {
      control.set(values, CONTROL.args + thread * MOST_ARGS);
    }
    this.#order(ORDERS.run);
    const beginMs = performance.now();
    own.code(...own.args);
    this.#wait(SLOWEST * (performance.now() - beginMs));
    if (control[CONTROL.failed] !== 0) throw internalError('a thread of the wasm device failed');
  }

  /** Ends all threads. */
  dispose(): void {
    this.#break();
  }

  /** Some threads alone are of no use. */
  #break(): void {
    this.#isBroken = true;
    if (this.#orders > 0 || Atomics.load(this.#control, CONTROL.ready) > 0) this.#order(ORDERS.end);
    for (const stop of this.#stops.splice(0)) stop();
    this.#waiting.length = 0;
    this.#loading?.free();
    this.#loading = undefined;
  }

  #loadNext(): void {
    const control = this.#control;
    if (Atomics.load(control, CONTROL.ready) < this.count) return;
    if (this.#loading !== undefined) {
      if (Atomics.load(control, CONTROL.done) < this.count) return;
      this.#loading.free();
      this.#loading = undefined;
    }
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#loading = this.#options.allocate(next.bytes.byteLength);
    this.#loading.bytes.set(next.bytes);
    control[CONTROL.first] = this.#loading.address;
    control[CONTROL.second] = next.bytes.byteLength;
    control[CONTROL.third] = next.count;
    this.#order(ORDERS.load);
  }

  #order(kind: number): void {
    const control = this.#control;
    control[CONTROL.kind] = kind;
    Atomics.store(control, CONTROL.done, 0);
    Atomics.store(control, CONTROL.order, ++this.#orders);
    Atomics.notify(control, CONTROL.order);
  }

  #wait(leastMs = 0): void {
    const control = this.#control;
    const patienceMs = Math.max(leastMs, this.#options.patienceMs);
    let [waitedMs, lastMs] = [0, 0];
    for (let i = 0; ; i++) {
      const done = Atomics.load(control, CONTROL.done);
      if (done === this.count) return;
      if (i < SPINS) continue;
      const nowMs = performance.now();
      // While a machine is suspended its clock may go on, and its threads do not.
      if (lastMs > 0) waitedMs += Math.min(nowMs - lastMs, SLICE_MS);
      lastMs = nowMs;
      if (waitedMs >= patienceMs) throw this.#giveUp();
      if (MAY_SLEEP) {
        Atomics.wait(control, CONTROL.done, done, Math.min(SLICE_MS, patienceMs - waitedMs));
      }
    }
  }

  #giveUp(): DeviceLostError {
    this.#break();
    const error = new DeviceLostError('A thread of the wasm device ended. Load the session again.');
    this.#lose?.(error);
    return error;
  }
}

/** Pages must not; workers and Node may. */
const MAY_SLEEP = !('window' in globalThis);
