import { untilAborted } from '../../core/until-aborted.ts';
import type { AdmissionStep } from './admission.ts';
import type { SliceClock } from './slice-clock.ts';

/** Lets others have their turn when calls have held the thread for as long as they may. */
export function yieldAfterSlice(slices: SliceClock): AdmissionStep {
  return ({ signal }) => (slices.isOver ? untilAborted(slices.next(), signal) : undefined);
}
