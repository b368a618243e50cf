import type { ErrorData } from '../../core/errors.ts';

export type CallId = number;

export type SessionId = number;

/** A tensor or a function that stays where the session runs, for the page. */
export type HandleId = number;

export type Reply<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Memory that a run's inputs came in, and what its results did not need. */
      readonly spares?: readonly ArrayBuffer[];
    }
  | { readonly ok: false; readonly error: ErrorData };
