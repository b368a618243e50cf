import { releaseProxy } from 'comlink';
import type { WorkerService } from '../../../worker/protocol/session-service.ts';
import { answered } from './answers.ts';
import { TextReader } from './text-reader.ts';

/** A reader that a page calls by the names of its methods. */
export function serveReader(): WorkerService['readText'] {
  const reader = new TextReader();
  return async (method, ...given) => {
    const call: unknown = Reflect.get(reader, method);
    if (typeof call !== 'function') throw new Error(`internal: no method ${method}`);
    const reply = await answered(() => Reflect.apply(call, reader, given) as unknown);
    // Functions of the page are asked during a call only.
    for (const one of given) {
      if (typeof one === 'function') (one as Partial<{ [releaseProxy](): void }>)[releaseProxy]?.();
    }
    return reply;
  };
}
