import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { Value } from '../values/value.ts';

/** One call within a machine. The same object comes before and after it. */
export interface InstrumentedCall {
  /** The name in the function table: of a bytecode function, a builtin, a primitive or a function of the host. */
  readonly name: string;
  readonly kind: 'bytecode' | 'builtin' | 'kernel' | 'host function';
  /** Arguments, borrowed for the time of the call. */
  readonly args: readonly Value[];
  /** Bytes of storages that the machine holds now, on all devices. */
  liveBytes(): number;
  /** The instruction that calls. Undefined for a call from outside. */
  place(): CodePlace | undefined;
}

/**
 * Hooks around every call that a machine makes, of bytecode functions too. An error that a hook throws ends the
 * call from outside. Kernels of WebGPU only enter its queue during a call: their times are those of `profile`.
 */
export interface MachineInstrument {
  /** Called before a call. */
  before?(call: InstrumentedCall): void;
  /**
   * Called after a call, however it ended; after a promise has settled, for one of an async function. `result` is
   * what a builtin, a kernel or a function of the host gave, borrowed, null where nothing takes it; undefined for
   * bytecode and after an error. The call goes on when a promise has resolved.
   */
  after?(call: InstrumentedCall, result?: Value): void | Promise<void>;
}

/** The calls of one function so far. */
interface FunctionUse {
  readonly name: string;
  readonly kind: InstrumentedCall['kind'];
  readonly calls: number;
  /** Milliseconds from begin to end, with what it calls; a recursive function counts its inner calls again. */
  readonly totalMs: number;
  /** Milliseconds without what it calls. */
  readonly selfMs: number;
  /** Bytes of storages that were held more at the end of its calls than at their begin, in all. */
  readonly grownBytes: number;
  /** The most bytes that were held when a call of it began or ended. */
  readonly peakBytes: number;
}

type Counts = { -readonly [K in keyof FunctionUse]: FunctionUse[K] };

interface OpenCall {
  readonly call: InstrumentedCall;
  readonly start: number;
  readonly bytes: number;
  /** Milliseconds of the calls within it. */
  inner: number;
}

/**
 * An instrument that adds up time and memory for each function of an executable. Several calls in flight share the
 * clock: profile one at a time.
 */
export class FunctionProfile implements MachineInstrument {
  readonly #functions = new Map<string, Counts>();
  readonly #open: OpenCall[] = [];

  /** All functions that were called, those that took longest by themselves first. */
  get functions(): readonly FunctionUse[] {
    return [...this.#functions.values()].toSorted((a, b) => b.selfMs - a.selfMs);
  }

  /** Starts the clock of a call. */
  before(call: InstrumentedCall): void {
    this.#open.push({ call, start: performance.now(), bytes: call.liveBytes(), inner: 0 });
  }

  /** Adds the call to what its function took. */
  after(call: InstrumentedCall): void {
    const index = this.#open.findLastIndex((open) => open.call === call);
    const open = this.#open[index];
    if (open === undefined) return;
    const elapsed = performance.now() - open.start;
    this.#open.splice(index, 1);
    const around = this.#open[index - 1];
    if (around !== undefined) around.inner += elapsed;
    const bytes = call.liveBytes();
    const counts = this.#countsOf(call);
    counts.calls++;
    counts.totalMs += elapsed;
    counts.selfMs += elapsed - open.inner;
    counts.grownBytes += bytes - open.bytes;
    counts.peakBytes = Math.max(counts.peakBytes, bytes, open.bytes);
  }

  #countsOf({ name, kind }: InstrumentedCall): Counts {
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    const counts = { name, kind, calls: 0, totalMs: 0, selfMs: 0, grownBytes: 0, peakBytes: 0 };
    this.#functions.set(name, counts);
    return counts;
  }
}
