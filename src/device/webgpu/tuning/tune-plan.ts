import type { LaunchPlan, VariantChoices } from '../../../core/launch-plan.ts';
import type { TriedVariant } from '../../device.ts';

/** What a variant has to be faster by, so that noise chooses nothing. */
export const MARGIN = 0.9;

/** Rounds in which the variants take turns; the fastest time of each counts. */
const ROUNDS = 5;

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
  plan(choices: VariantChoices): LaunchPlan;
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
 * its results agree with those of the first choice and it is faster by {@link MARGIN}, twice.
 * Undefined for a plan without places to choose at.
 */
export async function tunePlan(task: TuningTask): Promise<TunedPlan | undefined> {
  const places = placesOf(task);
  if (places.size === 0) return undefined;
  const choices = new Map<string, string>();
  const tried: TriedVariant[] = [];
  const first = await task.prepare(task.plan(choices));
  let best = { trial: first, plan: task.plan(choices) };
  try {
    let firstMs = await first.measure();
    let chosenMs = firstMs;
    for (const [place, names] of places) {
      const plans = new Map([[textOf(best.plan), '']]);
      for (const name of names) {
        task.signal?.throwIfAborted();
        const plan = task.plan(new Map(choices).set(place, name));
        // Some names mean the same for these sizes.
        if (plans.has(textOf(plan))) continue;
        plans.set(textOf(plan), name);
        const result = await attempt(task, { plan, first, best: best.trial });
        const { trial, bestMs, ms, refusal } = result;
        tried.push({ place, name, ms, refusal });
        if (best.trial === first) firstMs = Math.min(firstMs, bestMs ?? firstMs);
        if (trial === undefined) continue;
        if (best.trial !== first) best.trial.dispose();
        best = { trial, plan };
        choices.set(place, name);
        chosenMs = ms ?? chosenMs;
      }
    }
    return { choices, firstMs, chosenMs: choices.size === 0 ? firstMs : chosenMs, tried };
  } finally {
    if (best.trial !== first) best.trial.dispose();
    first.dispose();
  }
}

interface Attempt {
  readonly plan: LaunchPlan;
  readonly first: Trial;
  readonly best: Trial;
}

interface AttemptResult {
  /** Only of a variant that is taken. */
  readonly trial?: Trial | undefined;
  readonly ms: number | undefined;
  readonly bestMs?: number | undefined;
  readonly refusal: string | undefined;
}

async function attempt(task: TuningTask, { plan, first, best }: Attempt): Promise<AttemptResult> {
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
    let [bestMs, ms] = await compare(best, trial, task.signal);
    if (ms < bestMs * MARGIN) {
      // Once more: something else may have used the device meanwhile.
      const [bestAgain, again] = await compare(best, trial, task.signal);
      isTaken = again < bestAgain * MARGIN;
      [bestMs, ms] = [Math.min(bestMs, bestAgain), Math.min(ms, again)];
    }
    return { trial: isTaken ? trial : undefined, ms, bestMs, refusal: undefined };
  } finally {
    if (!isTaken) trial.dispose();
  }
}

/** The fastest times of two trials that take turns. */
async function compare(
  a: Trial,
  b: Trial,
  signal: AbortSignal | undefined,
): Promise<[number, number]> {
  let [aMs, bMs] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    signal?.throwIfAborted();
    aMs = Math.min(aMs, await a.measure());
    bMs = Math.min(bMs, await b.measure());
    // What is twice as slow will not win.
    if (round > 0 && bMs > aMs * 2) break;
  }
  return [aMs, bMs];
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
