import { expose, releaseProxy } from 'comlink';
import type { Reply } from '../../worker/protocol/reply.ts';
import { answered } from './answers.ts';
import { TextReader } from './text-reader.ts';

/** Names of the calls that a reader answers. */
export type ReaderCall = {
  [Name in keyof TextReader]: TextReader[Name] extends (...given: never[]) => unknown
    ? Name
    : never;
}[keyof TextReader];

/** A reader behind a port. */
export interface ServedReader {
  ask(name: ReaderCall, ...given: readonly unknown[]): Promise<Reply<unknown>>;
}

/** Serves as a reader of a model's files, for one page. */
export function serveReader(port: MessagePort): void {
  const reader = new TextReader();
  const served: ServedReader = {
    async ask(name, ...given) {
      const reply = await answered(() => Reflect.apply(reader[name], reader, given));
      // Functions of the page are asked during a call only.
      for (const one of given) {
        if (typeof one === 'function')
          (one as Partial<{ [releaseProxy](): void }>)[releaseProxy]?.();
      }
      return reply;
    },
  };
  expose(served, port);
}
