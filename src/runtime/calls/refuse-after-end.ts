import type { AdmissionStep } from './admission.ts';
import type { CallsInFlight } from './calls-in-flight.ts';

/** Refuses a call that waited until its machine was disposed of, or lost its device. */
export function refuseAfterEnd(inFlight: CallsInFlight): AdmissionStep {
  return () => {
    if (inFlight.end !== undefined) throw inFlight.end;
    return undefined;
  };
}
