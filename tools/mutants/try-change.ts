import { isBrowserTest } from './browser-tests.ts';
import type { Change } from './change.ts';
import type { ReachingTests, Tier } from './reaching-tests.ts';
import type { Result, Results } from './results.ts';
import { runTests, typeErrors } from './run-tests.ts';
import type { WorkingCopy } from './working-copy.ts';

/** Tests of the first run, which are the nearest, of each one behind it, and of a run of long ones. */
const [FIRST, NEXT, LONG] = [8, 48, 2];

/** Where the time is over, or tests were left out: another call has to go on. */
const UNFINISHED = 'unfinished';

interface Trial {
  readonly copy: WorkingCopy;
  readonly tests: ReachingTests;
  readonly results: Results;
  readonly tier: Tier;
  readonly untilMs: number;
}

/** Tries changes one after the other. */
export class ChangeTrial {
  readonly #trial: Trial;
  /** Tests by whether they pass without a change. */
  readonly #sound = new Map<string, boolean>();
  #errorsBefore: ReadonlySet<string> | undefined;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  /** Resolves to the result, which is kept after each run; to an unfinished one where the time is over. */
  async try(change: Change): Promise<Result> {
    const { results, copy, tier: last } = this.#trial;
    const before = results.of(change);
    const startedAt = Date.now();
    const passed = new Set(before?.passed);
    const keep = (state: Result['state'], tier: Tier, by?: string): Result => {
      const seconds = (before?.seconds ?? 0) + Math.round((Date.now() - startedAt) / 1000);
      const result = { state, tier, by, seconds, passed: by === undefined ? [...passed] : [] };
      results.keep(change, result);
      return result;
    };
    copy.plant(change);
    try {
      for (const tier of ['test', 'all'] as const) {
        const onPassed = (): void => void keep('unfinished', tier);
        const by = await this.#noticedBy(change, { tier, passed, onPassed });
        if (by === UNFINISHED) return keep('unfinished', tier);
        if (by !== undefined) return keep('noticed', tier, by);
        if (tier === last) break;
      }
      return keep('survived', last);
    } finally {
      copy.restore();
    }
  }

  /** The first that fails in a tier. */
  async #noticedBy(
    change: Change,
    { tier, passed, onPassed }: { tier: Tier; passed: Set<string>; onPassed: () => void },
  ): Promise<string | undefined> {
    const { copy, tests, untilMs } = this.#trial;
    const all = tests.of(change.file, tier);
    const isLeft = (key: string): boolean => !passed.has(key) && this.#sound.get(key) !== false;
    const left = (): string[] => all.filter((test) => isLeft(`${tier} ${test}`));
    for (let next = left(); next.length > 0; next = left()) {
      const short = next.length === all.length ? FIRST : NEXT;
      const unitTests = next.filter((test) => !isBrowserTest(test));
      const piece = (unitTests.length > 0 ? unitTests : next).slice(
        0,
        tier === 'all' ? LONG : short,
      );
      const outcome = await runTests(copy.root, piece, { tier, untilMs });
      if (outcome === 'out of time') return UNFINISHED;
      if (outcome === 'passed') {
        for (const test of piece) passed.add(`${tier} ${test}`);
        onPassed();
      } else {
        const { file, by } = outcome;
        if (await this.#areSound(change, file === undefined ? piece : [file], tier)) return by;
      }
    }
    const error = passed.has('types') ? undefined : await this.#typeError(change);
    if (error !== undefined) return error;
    passed.add('types');
    return all.every((test) => passed.has(`${tier} ${test}`)) ? undefined : UNFINISHED;
  }

  /** Returns true if tests pass without the change: those that fail anyway notice nothing. */
  async #areSound(change: Change, tests: readonly string[], tier: Tier): Promise<boolean> {
    if (tests.every((test) => this.#sound.get(`${tier} ${test}`) === true)) return true;
    const { root } = this.#trial.copy;
    const run = () => runTests(root, tests, { tier, untilMs: Infinity });
    const outcome = await this.#without(change, run);
    for (const test of tests) this.#sound.set(`${tier} ${test}`, outcome === 'passed');
    if (typeof outcome === 'object') {
      console.log(`left out, since it fails without a change: ${tests.join(', ')}: ${outcome.by}`);
    }
    return outcome === 'passed';
  }

  async #typeError(change: Change): Promise<string | undefined> {
    const { root } = this.#trial.copy;
    const errors = typeErrors(root);
    if (errors.length === 0) return undefined;
    this.#errorsBefore ??= await this.#without(change, () => new Set(typeErrors(root)));
    const found = errors.find((line) => this.#errorsBefore?.has(line) !== true);
    return found === undefined ? undefined : `types: ${found}`;
  }

  async #without<T>(change: Change, work: () => T | Promise<T>): Promise<T> {
    const { copy } = this.#trial;
    copy.restore();
    try {
      return await work();
    } finally {
      copy.plant(change);
    }
  }
}
