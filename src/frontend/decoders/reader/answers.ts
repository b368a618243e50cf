import { errorFromData, errorToData } from '../../../core/errors.ts';
import type { Reply } from '../../../worker/protocol/reply.ts';

/** Has a call answer with data in any case, as it crosses threads. */
export async function answered<T>(call: () => T | Promise<T>): Promise<Reply<T>> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    return { ok: false, error: errorToData(error) };
  }
}

/** The value of an answer. Throws the error that it tells of. */
export function valueOf<T>(reply: Reply<T>): T {
  if (reply.ok) return reply.value;
  throw errorFromData(reply.error);
}
