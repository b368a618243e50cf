import type { StartPart } from '../parts/part-protocol.ts';
import { nodeParts } from './node-threads.ts';

/** Threads of Node that have memories of their own, counted. */
export class WatchedParts {
  started = 0;
  live = 0;
  /** Parts of steps that they were given, and that they did. */
  asked = 0;
  done = 0;
  /** Bytes of constants that they were sent. */
  keptByteLength = 0;
  /** Constants that they have. */
  readonly kept = new Set<number>();

  /** Returns what starts threads, which are counted from then on. */
  starter(): StartPart {
    const startPart = nodeParts();
    return (events) => {
      this.started++;
      this.live++;
      const thread = startPart({
        onMessage: (message) => {
          if (message.kind === 'done' && message.bytes !== undefined) this.done++;
          events.onMessage(message);
        },
        onError: () => {
          this.live--;
          events.onError();
        },
      });
      return (
        thread && {
          post: (message, transfer) => {
            if (message.kind === 'run') this.asked++;
            if (message.kind === 'drop') this.kept.delete(message.id);
            if (message.kind === 'keep') {
              this.kept.add(message.id);
              this.keptByteLength += message.bytes.byteLength;
            }
            thread.post(message, transfer);
          },
          terminate: () => thread.terminate(),
        }
      );
    };
  }
}
