import type { BenchCase, RunName } from './cases/bench-case.ts';
import type { Contestant } from './contestants.ts';
import { limited, messageOf } from './limited.ts';
import { FEWEST_ROUNDS, type Method } from './methods.ts';
import type { StartRequest } from './page/runtime.ts';

export type RuntimeResult =
  | {
      /** Of the round that counts. */
      readonly ms: number;
      readonly medianMs: number;
      readonly fastestMs: number;
      readonly runs: number;
      /** From published outputs, else from Weft's, over the range; absent for Weft without the former. */
      readonly difference: number | undefined;
      /** The largest difference that is accepted. */
      readonly tolerance: number;
      /** True if Weft was in the page's own thread. */
      readonly isInPage: boolean;
      /** The most bytes on its device at once, where they are counted. */
      readonly peakBytes?: number | undefined;
    }
  | { readonly failure: string };

export type WarmResults = Readonly<Partial<Record<RunName, RuntimeResult>>>;

/** The steps of contestants in a page, called there or from elsewhere. */
export interface RaceSteps {
  start(name: RunName, benchCase: BenchCase, request: StartRequest): Promise<unknown>;
  warm(name: RunName, limit: WarmLimit): Promise<number>;
  run(name: RunName, leastMs: number): Promise<number>;
  compare(name: RunName, benchCase: BenchCase): Promise<number>;
  peakBytes(name: RunName): Promise<number | undefined>;
}

/** How long or how often a contestant runs before anything is timed. */
export interface WarmLimit {
  readonly ms: number;
  readonly runs: number;
}

/** How contestants are timed. */
interface RaceOptions {
  readonly method: Method;
  /** Rounds at most. */
  readonly runs: number;
  /** A step that takes longer has failed. Default: two minutes. */
  readonly limitMs?: number | undefined;
}

/** Before anything is timed each runtime runs so often, or for so long, but twice at least. */
const WARM_LIMIT: WarmLimit = { ms: 1000, runs: 20 };
/** A loop of runs needs as many that the engine's better compiler has had its turn. */
const LOOP_WARM_LIMIT: WarmLimit = { ms: 1000, runs: 2000 };

/** The contestants of one page, without those that failed. */
export class Race {
  readonly #steps: RaceSteps;
  readonly #options: RaceOptions;
  readonly #results: Partial<Record<RunName, RuntimeResult>> = {};
  readonly #times = new Map<RunName, number[]>();
  readonly #inPage = new Set<RunName>();

  constructor(steps: RaceSteps, options: RaceOptions) {
    this.#steps = steps;
    this.#options = options;
  }

  /** Starts a contestant and warms it up. */
  async enter(contestant: Contestant): Promise<void> {
    const { name } = contestant;
    // The floor is that of Weft's outputs.
    if (name === 'floor' && !this.#times.has('weft')) return;
    this.#times.set(name, []);
    const { inPageMs } = this.#options.method;
    await this.#attempt(name, async () => {
      const mayBeInPage =
        name.startsWith('weft') && inPageMs > 0 && contestant.benchCase.training === undefined;
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
    const limit = this.#options.method.leastRoundMs > 0 ? LOOP_WARM_LIMIT : WARM_LIMIT;
    await this.#steps.start(name, benchCase, request);
    return this.#steps.warm(name, limit);
  }

  /** Rounds in which each has its turn. */
  async run(): Promise<void> {
    const { runs, method } = this.#options;
    const { budgetMs, leastRoundMs } = method;
    const begin = performance.now();
    for (let i = 0; i < runs; i++) {
      if (i >= FEWEST_ROUNDS && performance.now() - begin > budgetMs) break;
      for (const name of this.#times.keys()) {
        await this.#attempt(name, async () => {
          this.#times.get(name)?.push(await this.#steps.run(name, leastRoundMs));
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
          ms: this.#options.method.statistic === 'median' ? medianMs : fastestMs,
          medianMs,
          fastestMs,
          runs: times.length,
          difference,
          tolerance: benchCase.tolerance,
          isInPage: this.#inPage.has(name),
          peakBytes: await this.#steps.peakBytes(name),
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
    return this.#steps.compare(name, benchCase);
  }

  async #attempt(name: RunName, work: () => Promise<void>): Promise<void> {
    try {
      await limited(work(), this.#options.limitMs);
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

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
