/** Words of the memory that a pool and its threads share, by index. */
export const CONTROL = {
  /** Threads that wait for orders. */
  ready: 0,
  /** Grows by one with each order. */
  order: 1,
  /** Threads that are done with the order. */
  done: 2,
  /** The kind of the order, one of {@link ORDERS}. */
  kind: 3,
  /** Of `load` address and length of a module's bytes, then how many functions it exports; of `run` the function. */
  first: 4,
  second: 5,
  third: 6,
  /** Not 0 once a thread has failed. */
  failed: 7,
  count: 8,
  /** Runs that threads have done, all of them together. */
  runs: 9,
  /** Arguments of the first thread; those of others lie {@link MOST_ARGS} words behind. */
  args: 16,
} as const;

export const ORDERS = { load: 1, run: 2, end: 3 } as const;

/** Arguments that a function has at most to be run by threads. */
export const MOST_ARGS = 240;

/** Bytes of the control words for so many threads. */
export const controlByteLength = (threads: number): number =>
  4 * (CONTROL.args + threads * MOST_ARGS);

export interface ThreadStart {
  readonly memory: WebAssembly.Memory;
  readonly control: SharedArrayBuffer;
  /** The number of the thread, from 0 on. */
  readonly index: number;
}
