import type { InstrumentedCall, MachineInstrument } from './instrument-calls.ts';

/** The calls of one function so far. */
interface FunctionUse {
  /** The name of the function. */
  readonly name: string;
  /** The kind of the function. */
  readonly kind: InstrumentedCall['kind'];
  /** Calls that have ended. */
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
