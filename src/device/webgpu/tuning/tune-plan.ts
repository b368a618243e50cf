import type { LaunchPlan } from '../../../core/launch-plan.ts';
import type { TriedVariant } from '../../device.ts';
import type { ChosenNames } from './named-choices.ts';

/** What a variant has to be faster by, so that noise chooses nothing. */
export const MARGIN = 0.9;

/** Rounds in which two variants take turns; the fastest time of each counts. */
const ROUNDS = 5;

/** Of them, so many may go the other way: something else used the device. */
const LOST_ROUNDS = 1;

/** A plan made ready to be run on some arguments. */
export interface Trial {
  /** Milliseconds of one run, the mean of some. */
  measure(): Promise<number>;
  /** Whether the results are those of another plan, within the tolerances of the operators. */
  agreesWith(other: Trial): Promise<boolean>;
  dispose(): void;
}

export interface TuningTask {
  /** Pure. */
  plan(chosen: ChosenNames): LaunchPlan;
  /** Compiles. Rejects with DeviceError or OutOfMemoryError. */
  prepare(plan: LaunchPlan): Promise<Trial>;
  readonly signal?: AbortSignal | undefined;
}

export interface TunedPlan {
  /** By place; empty where the first choice stays. */
  readonly choices: ReadonlyMap<string, string>;
  readonly firstMs: number;
  readonly chosenMs: number;
  readonly tried: readonly TriedVariant[];
}

/**
 * Measures the variants of each place of a plan, one place after the other. A variant is taken when
 * its results agree with those of the first choice and it is faster by {@link MARGIN}; what comes of
 * it all has to beat the first choice once more. Undefined for a plan without places to choose at.
 */
export async function tunePlan(task: TuningTask): Promise<TunedPlan | undefined> {
  const places = placesOf(task);
  if (places.size === 0) return undefined;
  const tried: TriedVariant[] = [];
  const firstPlan = task.plan(new Map());
  const first = await task.prepare(firstPlan);
  let best = { trial: first, plan: firstPlan, choices: new Map<string, string>() };
  try {
    for (const [place, names] of places) {
      const known = new Set([textOf(best.plan)]);
      for (const name of names) {
        task.signal?.throwIfAborted();
        const choices = new Map(best.choices).set(place, name);
        const plan = task.plan(choices);
        // Some names mean the same for these sizes.
        if (known.has(textOf(plan))) continue;
        known.add(textOf(plan));
        const { trial, ms, refusal } = await attempt(task, plan, { first, best: best.trial });
        tried.push({ place, name, ms, refusal });
        if (trial === undefined) continue;
        if (best.trial !== first) best.trial.dispose();
        best = { trial, plan, choices };
      }
    }
    if (best.trial === first) {
      const ms = await first.measure();
      return { choices: new Map(), firstMs: ms, chosenMs: ms, tried };
    }
    const { aMs: firstMs, bMs, isFaster } = await compare(first, best.trial, task.signal);
    if (isFaster) return { choices: best.choices, firstMs, chosenMs: bMs, tried };
    return { choices: new Map(), firstMs, chosenMs: firstMs, tried };
  } finally {
    if (best.trial !== first) best.trial.dispose();
    first.dispose();
  }
}

interface Attempt {
  /** Only of a variant that is taken. */
  readonly trial?: Trial | undefined;
  readonly ms: number | undefined;
  readonly refusal: string | undefined;
}

async function attempt(
  task: TuningTask,
  plan: LaunchPlan,
  { first, best }: { readonly first: Trial; readonly best: Trial },
): Promise<Attempt> {
  let trial: Trial;
  try {
    trial = await task.prepare(plan);
  } catch (error) {
    task.signal?.throwIfAborted();
    return { ms: undefined, refusal: error instanceof Error ? error.message : String(error) };
  }
  let isTaken = false;
  try {
    if (!(await trial.agreesWith(first))) {
      return { ms: undefined, refusal: 'its results differ from those of the first choice' };
    }
    const { bMs: ms, isFaster } = await compare(best, trial, task.signal);
    isTaken = isFaster;
    return { trial: isTaken ? trial : undefined, ms, refusal: undefined };
  } finally {
    if (!isTaken) trial.dispose();
  }
}

/** The fastest times of two trials that take turns, and whether the second is faster beyond doubt. */
async function compare(
  a: Trial,
  b: Trial,
  signal: AbortSignal | undefined,
): Promise<{ aMs: number; bMs: number; isFaster: boolean }> {
  let [aMs, bMs, lost] = [Infinity, Infinity, 0];
  for (let round = 0; round < ROUNDS; round++) {
    signal?.throwIfAborted();
    const [ofA, ofB] = [await a.measure(), await b.measure()];
    [aMs, bMs] = [Math.min(aMs, ofA), Math.min(bMs, ofB)];
    if (ofB >= ofA) lost++;
    if (lost > LOST_ROUNDS) break;
  }
  return { aMs, bMs, isFaster: lost <= LOST_ROUNDS && bMs < aMs * MARGIN };
}

/** Names of variants by place, in the order in which planning asks. */
function placesOf(task: TuningTask): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, readonly string[]>();
  task.plan({
    get(place, names) {
      if (names.length > 0) places.set(place, names);
      return undefined;
    },
  });
  return places;
}

function textOf({ launches }: LaunchPlan): string {
  return launches
    .map(({ code, params, workgroups }) => [code, params.join(), workgroups.join()].join('\n'))
    .join('\n');
}
