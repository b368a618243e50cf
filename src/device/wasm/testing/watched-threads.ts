import { CONTROL } from '../threads/thread-control.ts';
import type { StartThread } from '../threads/thread-pool.ts';
import { nodeThreads } from './node-threads.ts';

/** Threads of Node, counted. */
export class WatchedThreads {
  started = 0;
  live = 0;
  readonly #controls: Int32Array[] = [];

  /** Parts of steps that they did. */
  get runs(): number {
    return this.#controls.reduce((sum, control) => sum + Atomics.load(control, CONTROL.runs), 0);
  }

  /** Returns what starts threads, which are counted from then on. */
  starter(): StartThread {
    const startThread = nodeThreads();
    return (start, onError) => {
      this.started++;
      this.live++;
      if (start.index === 0) this.#controls.push(new Int32Array(start.control));
      return startThread(start, () => {
        this.live--;
        onError();
      });
    };
  }
}
