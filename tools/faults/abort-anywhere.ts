import { inTier } from '../../src/testing/tier.ts';

/** So many jobs of promises come between a turn of the event loop and an abort, in the first turns and later. */
const JOBS = inTier({ quick: [0, 4], long: [0, 1, 2, 3, 5, 9, 17, 40] });
const LATE_JOBS = JOBS.slice(0, 2);
const CLOSE_TURNS = inTier({ quick: 4, long: 12 });
/** Work that takes long is aborted in fewer and fewer of its turns. */
const GROWTH = inTier({ quick: 1, long: 0.25 });
const MOST_TURNS = 1e6;

interface AbortReport {
  /** How often the work was ended by an abort, and how often it was done before, or in spite of it. */
  readonly aborted: number;
  readonly done: number;
  readonly problems: readonly string[];
}

export interface AbortedWork<T> {
  /** Does the work once; rejects with the reason of the signal when that aborts. */
  readonly work: (signal: AbortSignal) => Promise<T>;
  /** Rejects unless nothing is left and the next work is right. `result` is that of work that was done. */
  readonly check: (result: T | undefined) => Promise<void>;
}

/** Does work again and again, aborted a little later each time, until it is done before that. */
export async function abortAnywhere<T>({ work, check }: AbortedWork<T>): Promise<AbortReport> {
  const problems: string[] = [];
  let [aborted, done] = [0, 0];
  for (let turns = 0; turns < MOST_TURNS; turns += Math.max(1, Math.floor(turns * GROWTH))) {
    const jobs = turns < CLOSE_TURNS ? JOBS : LATE_JOBS;
    let early = 0;
    for (const job of jobs) {
      const place = `an abort behind ${turns} turns and ${job} jobs`;
      const controller = new AbortController();
      const reason = new Error(place);
      const clock = abortLater(controller, { turns, jobs: job, reason });
      let result: T | undefined;
      try {
        result = await work(controller.signal);
        done++;
        if (!controller.signal.aborted) early++;
      } catch (error) {
        if (error === reason) aborted++;
        else problems.push(`${place}: ${String(error)}`);
      }
      clock.stop();
      await check(result).catch((error: unknown) => {
        problems.push(`behind ${place}: ${String(error)}`);
      });
    }
    if (early === jobs.length) break;
  }
  return { aborted, done, problems };
}

interface Moment {
  readonly turns: number;
  readonly jobs: number;
  readonly reason: Error;
}

function abortLater(
  controller: AbortController,
  { turns, jobs, reason }: Moment,
): { readonly stop: () => void } {
  let isStopped = false;
  const waitJobs = (left: number): void => {
    if (isStopped) return;
    if (left === 0) controller.abort(reason);
    else void Promise.resolve().then(() => waitJobs(left - 1));
  };
  const waitTurns = (left: number): void => {
    if (isStopped) return;
    if (left === 0) waitJobs(jobs);
    else setImmediate(() => waitTurns(left - 1));
  };
  waitTurns(turns);
  return {
    stop: () => {
      isStopped = true;
    },
  };
}
