import { MOST_TIMELINE_RUNS, type RunTimelines } from '../../core/contracts/run-timeline.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { Inputs } from '../values/input-value.ts';
import { answerOf, type AskAboutRun } from './ask-tool.ts';

/** The function to record, and the number of runs. */
export interface TimelineOptions {
  /** The function of the program to run. Default: `main`. */
  readonly function?: string | undefined;
  /** Runs that are recorded, one after the other, at most 100. Default: 1. */
  readonly runs?: number | undefined;
  /** Ends it, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const TIMELINE_OPTIONS: OptionKinds<TimelineOptions> = {
  function: 'text',
  runs: [
    `an integer from 1 to ${MOST_TIMELINE_RUNS}`,
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_TIMELINE_RUNS,
  ],
  signal: 'signal',
};

/** See `Session.timeline`. */
export async function timelineSession(
  ask: AskAboutRun,
  inputs: Inputs,
  options: TimelineOptions,
): Promise<RunTimelines> {
  checkOptions('timeline', options, TIMELINE_OPTIONS);
  return answerOf(ask(inputs, 'timeline', { runs: options.runs ?? 1 }));
}
