import { FormatError, WeftError } from '../../../src/core/errors.ts';

/** A kind of files that come from strangers. */
export interface FuzzTarget {
  /** The input of a seed: always the same. */
  input(seed: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Does with it what a user does. Throws when something is left; rejects with what was thrown. */
  run(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

interface Outcome {
  /** `ok`, or the name of the error. */
  readonly name: string;
  /** The fault: not one of Weft's own errors, or a message about a bug. */
  readonly problem: string | undefined;
}

/** The outcome of a file: success, or an error with a type, all the way down its causes. */
export async function outcomeOf(
  target: FuzzTarget,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Outcome> {
  try {
    await target.run(bytes);
    return { name: 'ok', problem: undefined };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    const foreign = foreignCause(error);
    if (foreign !== undefined) return { name, problem: textOf(foreign) };
    const text = String(error);
    const isBug =
      /internal:|stack size|Array buffer|Invalid typed|(?<!or )undefined(?! values)|got NaN/.test(
        text,
      );
    return { name, problem: isBug ? text : undefined };
  }
}

/**
 * The first of a chain of causes that is no error of Weft's own. Decoders of text and of messages throw
 * such errors, which a FormatError explains.
 */
function foreignCause(error: unknown): unknown {
  if (error instanceof FormatError) return undefined;
  if (!(error instanceof WeftError)) return error;
  return error.cause === undefined ? undefined : foreignCause(error.cause);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}
