import type { Page } from 'playwright';
import type { BenchCase, CasePlan, RunName } from './cases/bench-case.ts';
import { type Contestant, contestantsOf } from './contestants.ts';
import { FEWEST_ROUNDS } from './methods.ts';
import { type Lab, limited, messageOf, openPage } from './open-page.ts';

export type RuntimeResult =
  | {
      /** Of the round that counts. */
      readonly ms: number;
      readonly medianMs: number;
      readonly fastestMs: number;
      readonly runs: number;
      /** From published outputs, else from Weft's, over the range; absent for Weft without the former. */
      readonly difference: number | undefined;
      /** What it may be at most. */
      readonly tolerance: number;
      /** Whether Weft was in the page's own thread. */
      readonly isInPage: boolean;
    }
  | { readonly failure: string };

export type WarmResults = Readonly<Partial<Record<RunName, RuntimeResult>>>;

/** Before anything is timed each runtime runs so often, or for so long, but twice at least. */
const WARM_LIMIT = { ms: 1000, runs: 20 };
/** A loop of runs needs as many that the engine's better compiler has had its turn. */
const LOOP_WARM_LIMIT = { ms: 1000, runs: 2000 };

/** Measures a case with all contestants by turns in one page. */
export async function measureWarm(
  lab: Lab,
  plan: CasePlan,
  benchCase: BenchCase,
): Promise<WarmResults> {
  const page = await openPage(lab);
  const race = new Race(page, lab);
  try {
    await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
    for (const contestant of contestantsOf(lab, plan, benchCase)) {
      await race.enter(contestant);
    }
    await race.run();
    return await race.finish(benchCase);
  } finally {
    await page.context().close();
  }
}

/** The contestants of one page, without those that failed. */
class Race {
  readonly #page: Page;
  readonly #lab: Lab;
  readonly #results: Partial<Record<RunName, RuntimeResult>> = {};
  readonly #times = new Map<RunName, number[]>();
  readonly #inPage = new Set<RunName>();

  constructor(page: Page, lab: Lab) {
    this.#page = page;
    this.#lab = lab;
  }

  /** Starts a contestant and warms it up. */
  async enter(contestant: Contestant): Promise<void> {
    const { name } = contestant;
    // The floor is that of Weft's outputs.
    if (name === 'floor' && !this.#times.has('weft')) return;
    this.#times.set(name, []);
    const { inPageMs } = this.#lab.method;
    await this.#attempt(name, async () => {
      const mayBeInPage = name.startsWith('weft') && inPageMs > 0;
      if (mayBeInPage && (await this.#startInPage(contestant)) < inPageMs) {
        this.#inPage.add(name);
      } else {
        await this.#start(contestant);
      }
    });
  }

  #startInPage(contestant: Contestant): Promise<number> {
    return this.#start({ ...contestant, request: { ...contestant.request, isInPage: true } });
  }

  /** Resolves to the time of the fastest run so far. */
  async #start({ name, benchCase, request }: Contestant): Promise<number> {
    const limit = this.#lab.method.leastRoundMs > 0 ? LOOP_WARM_LIMIT : WARM_LIMIT;
    await this.#page.evaluate(
      ([name, bench, request]) => globalThis.bench.start(name, bench, request),
      [name, benchCase, request] as const,
    );
    return this.#page.evaluate(([name, limit]) => globalThis.bench.warm(name, limit), [
      name,
      limit,
    ] as const);
  }

  /** Rounds in which each has its turn. */
  async run(): Promise<void> {
    const { runs, method } = this.#lab;
    const { budgetMs, leastRoundMs } = method;
    const begin = performance.now();
    for (let i = 0; i < runs; i++) {
      if (i >= FEWEST_ROUNDS && performance.now() - begin > budgetMs) break;
      for (const name of this.#times.keys()) {
        await this.#attempt(name, async () => {
          const ms = await this.#page.evaluate(
            ([name, leastMs]) => globalThis.bench.run(name, leastMs),
            [name, leastRoundMs] as const,
          );
          this.#times.get(name)?.push(ms);
        });
      }
    }
  }

  /** The results, with the differences of outputs. */
  async finish(benchCase: BenchCase): Promise<WarmResults> {
    for (const [name, times] of this.#times) {
      await this.#attempt(name, async () => {
        const difference = await this.#difference(name, benchCase);
        const [medianMs, fastestMs] = [median(times), Math.min(...times)];
        this.#results[name] = {
          ms: this.#lab.method.statistic === 'median' ? medianMs : fastestMs,
          medianMs,
          fastestMs,
          runs: times.length,
          difference,
          tolerance: benchCase.tolerance,
          isInPage: this.#inPage.has(name),
        };
      });
    }
    return this.#results;
  }

  async #difference(name: RunName, benchCase: BenchCase): Promise<number | undefined> {
    if (UNCOMPARED.has(name)) return undefined;
    if (benchCase.expected.length === 0 && (name === 'weft' || !this.#times.has('weft'))) {
      return undefined;
    }
    return this.#page.evaluate(([name, bench]) => globalThis.bench.compare(name, bench), [
      name,
      benchCase,
    ] as const);
  }

  async #attempt(name: RunName, work: () => Promise<void>): Promise<void> {
    try {
      await limited(work());
    } catch (error) {
      this.#times.delete(name);
      this.#results[name] = { failure: messageOf(error) };
      console.error(`  ${name}: ${messageOf(error)}`);
    }
  }
}

/** Without outputs of the case. */
const UNCOMPARED: ReadonlySet<RunName> = new Set([
  'weft-float32',
  'floor',
  'multiply-adds',
  'byte-products',
]);

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
