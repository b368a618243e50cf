import { internalError } from '../core/errors.ts';
import type { ControlReply, RunComparison } from '../worker/protocol.ts';
import { checkOptions, type OptionKinds, POSITIVE, SIGNAL, TEXT } from './check-options.ts';

/** What is compared, and what counts as different. */
export interface VerifyOptions {
  /** The function of the program to run. Default: `main`. */
  readonly function?: string | undefined;
  /**
   * The largest error that does not count, relative to the largest element of each value. Default 0.05, beyond what
   * rounding to float16 adds up to in deep networks.
   */
  readonly tolerance?: number | undefined;
  /** Ends it, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const VERIFY_OPTIONS: OptionKinds<VerifyOptions> = {
  function: TEXT,
  tolerance: POSITIVE,
  signal: SIGNAL,
};

const DEFAULT_TOLERANCE = 0.05;

/** See `Session.verify`. */
export async function verifySession(
  options: VerifyOptions,
  ask: (tolerance: number) => Promise<ControlReply>,
): Promise<RunComparison> {
  checkOptions('verify', options, VERIFY_OPTIONS);
  const { verification } = await ask(options.tolerance ?? DEFAULT_TOLERANCE);
  if (verification !== undefined) return verification;
  throw internalError('a reply without what was found');
}
