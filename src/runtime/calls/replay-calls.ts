import type { CallOutcome } from '../call.ts';
import type { PendingReplay, ReplayStore } from '../replay-store.ts';
import type { RunControls, Turns } from '../run-hooks.ts';
import { release, retain } from '../value.ts';
import type { AdmissionStep, CallRequest } from './admission.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import type { SliceClock } from './slice-clock.ts';

export interface ReplayContext {
  readonly replays: ReplayStore;
  readonly controls: RunControls;
  readonly inFlight: CallsInFlight;
  readonly slices: SliceClock;
}

/** Repeats what an earlier call did, in place of its code. */
export function replayCalls({ replays, controls, inFlight, slices }: ReplayContext): AdmissionStep {
  return (request) => {
    const { hooks, turns } = controls;
    if (hooks?.mustInterpret === true) return undefined;
    const begin = performance.now();
    const { callee, args } = request;
    const replay = replays.find(callee, args, { inTurns: turns !== undefined });
    if (replay === undefined) return undefined;
    if (turns !== undefined) return replayInTurns(replay, request, { inFlight, turns });
    replayAtOnce(replay);
    slices.count(begin);
    return replay.outcome;
  };
}

function replayAtOnce(replay: PendingReplay): void {
  try {
    replay.enqueue();
  } catch (error) {
    release(replay.outcome.value);
    throw error;
  } finally {
    replay.end();
  }
}

/** Undefined when a buffer goes meanwhile. */
async function replayInTurns(
  replay: PendingReplay,
  { args, signal }: CallRequest,
  { inFlight, turns }: { readonly inFlight: CallsInFlight; readonly turns: Turns },
): Promise<CallOutcome | undefined> {
  let isComplete = false;
  for (const arg of args) retain(arg);
  try {
    isComplete = await inFlight.track({ signal }, (call) => turns.replay(call, replay));
    return isComplete ? replay.outcome : undefined;
  } finally {
    replay.end();
    if (!isComplete) release(replay.outcome.value);
    for (const arg of args) release(arg);
  }
}
