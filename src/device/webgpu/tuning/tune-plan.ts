import { DeviceLostError } from '../../../core/errors.ts';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { TriedVariant, TuningTurns } from '../../device.ts';
import type { ChosenNames } from './named-choices.ts';
import { planText } from './tuned-choices.ts';

/** The factor by which a variant has to be faster, so that noise chooses nothing. */
const MARGIN = 0.9;

/** Rounds in which two variants take turns; the fastest time of each counts. */
const ROUNDS = 5;

/** Of them, so many may go the other way: something else used the device. */
const LOST_ROUNDS = 1;

/** A plan made ready to be run on some arguments. */
export interface Trial {
  /** Milliseconds of one run, the mean of some. */
  measure(): Promise<number>;
  /** Resolves to true if the results equal those of `other` within the operators' tolerances. */
  agreesWith(other: Trial): Promise<boolean>;
  dispose(): void;
}

export interface TuningTask {
  /** Pure. Throws UnsupportedError. */
  readonly plan: (chosen: ChosenNames) => LaunchPlan;
  /** Compiles. Rejects with DeviceError or OutOfMemoryError. */
  readonly prepare: (plan: LaunchPlan) => Promise<Trial>;
  readonly turns: TuningTurns;
  /** Bytes of scratch that a variant may take beyond those of the first choice. */
  readonly moreScratch: number;
  readonly signal?: AbortSignal | undefined;
}

/** Turns for a caller that has the device to itself. */
export const ALL_AT_ONCE: TuningTurns = {
  idle: () => Promise.resolve(),
  take: (work) => work(),
};

export interface TunedPlan {
  /** Names of the choices by place; empty where the first choice stays. */
  readonly choices: ReadonlyMap<string, string>;
  readonly firstMs: number;
  readonly chosenMs: number;
  readonly tried: readonly TriedVariant[];
}

/**
 * Measures the variants of each place of a plan, one place after the other, and of the places that
 * come with what was taken. A variant is taken when its results agree with those of the first choice and
 * it is faster by {@link MARGIN}; what comes of it all has to beat the first choice once more. Rejects with DeviceLostError or the signal's reason.
 */
export async function tunePlan(task: TuningTask): Promise<TunedPlan> {
  const tried: TriedVariant[] = [];
  const first = await prepared(task, task.plan(NONE));
  let best: Candidate = first;
  const done = new Set<string>();
  try {
    for (;;) {
      const next = [...placesOf(task, best.choices)].find(([place]) => !done.has(place));
      if (next === undefined) break;
      done.add(next[0]);
      best = await tunePlace(task, next, { first, best, tried });
    }
    return await result(task, { first, best, tried });
  } finally {
    if (best !== first) best.trial.dispose();
    first.trial.dispose();
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

interface Candidate {
  readonly trial: Trial;
  readonly plan: LaunchPlan;
  readonly choices: ReadonlyMap<string, string>;
}

interface Progress {
  readonly first: Candidate;
  /** Disposed of when something better takes its place, but for the first. */
  readonly best: Candidate;
  readonly tried: TriedVariant[];
}

async function prepared(
  task: TuningTask,
  plan: LaunchPlan,
  choices: ReadonlyMap<string, string> = NONE,
): Promise<Candidate> {
  await task.turns.idle();
  return { trial: await task.prepare(plan), plan, choices };
}

/** The best one when all variants of a place were tried. */
async function tunePlace(
  task: TuningTask,
  [place, names]: readonly [string, readonly string[]],
  progress: Progress,
): Promise<Candidate> {
  const { first, tried } = progress;
  let { best } = progress;
  const known = new Set([planText(best.plan)]);
  try {
    for (const name of names) {
      task.signal?.throwIfAborted();
      const choices = new Map(best.choices).set(place, name);
      const { taken, ms, refusal } = await attempt(task, choices, { first, best, known });
      if (ms !== undefined || refusal !== undefined) tried.push({ place, name, ms, refusal });
      if (taken === undefined) continue;
      if (best !== first) best.trial.dispose();
      best = taken;
    }
    return best;
  } catch (error) {
    // Whoever asked knows of the one before only.
    if (best !== progress.best && best !== first) best.trial.dispose();
    throw error;
  }
}

async function result(task: TuningTask, { first, best, tried }: Progress): Promise<TunedPlan> {
  const { turns, signal } = task;
  if (best === first) {
    const ms = await turns.take(() => first.trial.measure());
    return { choices: NONE, firstMs: ms, chosenMs: ms, tried };
  }
  const { aMs: firstMs, bMs, isFaster } = await compare(first.trial, best.trial, { turns, signal });
  if (isFaster) return { choices: best.choices, firstMs, chosenMs: bMs, tried };
  return { choices: NONE, firstMs, chosenMs: firstMs, tried };
}

interface Attempt {
  /** Only of a variant that is better. */
  readonly taken?: Candidate | undefined;
  readonly ms?: number | undefined;
  readonly refusal?: string | undefined;
}

interface Rivals {
  readonly first: Candidate;
  readonly best: Candidate;
  /** Texts of plans that need not be tried: some names mean the same for these sizes. */
  readonly known: Set<string>;
}

/** Whatever goes wrong with a variant is a reason against it, but for the loss of the device. */
async function attempt(
  task: TuningTask,
  choices: ReadonlyMap<string, string>,
  rivals: Rivals,
): Promise<Attempt> {
  try {
    const plan = task.plan(choices);
    const text = planText(plan);
    if (rivals.known.has(text)) return {};
    rivals.known.add(text);
    const refusal = scratchRefusal(task, plan, rivals.first.plan);
    if (refusal !== undefined) return { refusal };
    return await race(task, await prepared(task, plan, choices), rivals);
  } catch (error) {
    task.signal?.throwIfAborted();
    if (error instanceof DeviceLostError) throw error;
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

function scratchRefusal(
  { moreScratch }: TuningTask,
  plan: LaunchPlan,
  first: LaunchPlan,
): string | undefined {
  const [byteLength, most] = [scratchOf(plan), scratchOf(first) + moreScratch];
  if (byteLength <= most) return undefined;
  return `it takes ${byteLength} bytes of scratch, of ${Math.floor(most)} at most`;
}

function scratchOf({ scratchByteLengths }: LaunchPlan): number {
  return scratchByteLengths.reduce((sum, byteLength) => sum + byteLength, 0);
}

/** Keeps the trial of a winner, and disposes of a loser's. */
async function race(
  { turns, signal }: TuningTask,
  candidate: Candidate,
  { first, best }: Rivals,
): Promise<Attempt> {
  const { trial } = candidate;
  let isFaster = false;
  try {
    if (!(await turns.take(() => trial.agreesWith(first.trial)))) {
      return { refusal: 'its results differ from those of the first choice' };
    }
    const { bMs: ms, ...outcome } = await compare(best.trial, trial, { turns, signal });
    ({ isFaster } = outcome);
    return { taken: isFaster ? candidate : undefined, ms };
  } finally {
    if (!isFaster) trial.dispose();
  }
}

/** The fastest times of two trials that take turns, and whether the second is faster beyond doubt. */
async function compare(
  a: Trial,
  b: Trial,
  { turns, signal }: Pick<TuningTask, 'turns' | 'signal'>,
): Promise<{ aMs: number; bMs: number; isFaster: boolean }> {
  let [aMs, bMs, lost] = [Infinity, Infinity, 0];
  for (let round = 0; round < ROUNDS; round++) {
    signal?.throwIfAborted();
    const [ofA, ofB] = await turns.take(async () => [await a.measure(), await b.measure()]);
    [aMs, bMs] = [Math.min(aMs, ofA), Math.min(bMs, ofB)];
    if (ofB >= ofA) lost++;
    if (lost > LOST_ROUNDS) break;
  }
  return { aMs, bMs, isFaster: lost <= LOST_ROUNDS && bMs < aMs * MARGIN };
}

/** Returns true if the plan has a choice between variants. */
export function hasVariants(plan: TuningTask['plan']): boolean {
  return placesOf({ plan }, NONE).size > 0;
}

/** Names of variants by place, in the order in which planning asks. */
function placesOf(
  task: Pick<TuningTask, 'plan'>,
  choices: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, readonly string[]>();
  task.plan({
    get(place, names) {
      if (names.length > 0) places.set(place, names);
      return choices.get(place);
    },
  });
  return places;
}
