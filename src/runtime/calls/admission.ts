import type { CallOutcome } from '../call.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import type { Value } from '../values/value.ts';

/** A call from outside, with arguments that were checked. */
export interface CallRequest {
  readonly callee: LinkedFunction;
  readonly args: readonly Value[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Undefined where the call may go on to the next step. An outcome where no code has to run. A promise
 * where the call waits: of its outcome, or of undefined, after which it is admitted from the first
 * step again.
 */
type Admission = CallOutcome | Promise<CallOutcome | void> | undefined;

/** Stands between a call and its code. Throws to refuse the call. */
export type AdmissionStep = (request: CallRequest) => Admission;
