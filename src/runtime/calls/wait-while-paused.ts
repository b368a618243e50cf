import { untilAborted } from '../../core/until-aborted.ts';
import type { RunControls } from '../run-hooks.ts';
import type { AdmissionStep } from './admission.ts';

/** Has a call wait while its machine is paused. */
export function waitWhilePaused(controls: RunControls): AdmissionStep {
  return ({ signal }) => {
    const pause = controls.hooks?.admission();
    return pause && untilAborted(pause, signal);
  };
}
