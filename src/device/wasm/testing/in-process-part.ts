import type { FromPart, StartPart, ToPart } from '../parts/part-protocol.ts';
import { PartServer } from '../parts/serve-part.ts';

export interface InProcessOptions {
  /** Bytes of a thread's memory. */
  readonly byteBudget?: number;
  /** Called with each message; returns false where it is to be lost. Throws what posting throws. */
  readonly deliver?: (message: ToPart) => boolean;
  /** Called at the end of a thread. */
  readonly onEnd?: () => void;
}

/** "Threads" in this one, whose messages arrive later, with what was transferred. */
export const inProcessPart =
  ({ byteBudget, deliver = () => true, onEnd }: InProcessOptions = {}): StartPart =>
  (events) => {
    let isLive = true;
    const later = (action: () => void): void => {
      setTimeout(() => {
        if (isLive) action();
      });
    };
    const answer = (message: FromPart, transfer: readonly ArrayBuffer[]): void => {
      const received = structuredClone(message, { transfer: [...transfer] });
      later(() => events.onMessage(received));
    };
    const server = new PartServer(answer, byteBudget);
    return {
      post(message, transfer = []) {
        if (!deliver(message)) return;
        // Only threads get modules.
        const received =
          message.kind === 'load' ? message : structuredClone(message, { transfer: [...transfer] });
        later(() => server.take(received));
      },
      terminate() {
        if (isLive) onEnd?.();
        isLive = false;
      },
    };
  };
