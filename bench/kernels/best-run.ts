import type { PreparedPlan } from '../../src/device/webgpu/testing/prepare-plan.ts';

/** Clocks of pages tell tenths of a millisecond: what takes less is repeated within a submit. */
const SHORT_MS = 5;
/** A submit of repeated runs takes about that. */
const REPEATED_MS = 20;
const MOST_REPEATS = 2000;
const FEWEST_ROUNDS = 3;

export interface BestRunOptions {
  readonly rounds: number;
  /** Once so much time has passed there are no more than {@link FEWEST_ROUNDS}. Default: none. */
  readonly limitMs?: number;
  /** Milliseconds that this process has computed so far, where that can be told. */
  readonly processorMs?: () => number;
}

/** Wall time is the result; processor time tells whether somebody else had the cores meanwhile. */
export interface BestRun {
  readonly ms: number;
  readonly processorMs: number;
}

/** The fastest of several runs of a plan, after one that is not counted. */
export async function bestRun(
  plan: PreparedPlan,
  { rounds, limitMs = Number.POSITIVE_INFINITY, processorMs = () => 0 }: BestRunOptions,
): Promise<BestRun> {
  const first = Math.min(await plan.run(), await plan.run());
  const isShort = first < SHORT_MS;
  const repeats = isShort ? Math.ceil(Math.min(MOST_REPEATS, REPEATED_MS / first)) : 1;
  let best: BestRun = { ms: Number.POSITIVE_INFINITY, processorMs: Number.POSITIVE_INFINITY };
  const begin = performance.now();
  for (let i = 0; i < rounds; i++) {
    if (i >= FEWEST_ROUNDS && performance.now() - begin > limitMs) break;
    const before = processorMs();
    const ms = await plan.run(repeats);
    const ownMs = (processorMs() - before) / repeats;
    best = { ms: Math.min(best.ms, ms), processorMs: Math.min(best.processorMs, ownMs) };
  }
  return best;
}
