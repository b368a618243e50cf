import type { BenchCase, RunName } from '../cases/bench-case.ts';
import type { WarmLimit } from '../race.ts';
import { largestDifference, trainingDifference } from './compare.ts';
import {
  elements,
  type Output,
  type Running,
  type Start,
  type StartRequest,
  typedElements,
} from './runtime.ts';

export interface ColdStart {
  /** From nothing loaded to the first result in the page, in milliseconds. */
  readonly totalMs: number;
  /** Milliseconds of the parts that the runtime lets one see. */
  readonly parts: readonly (readonly [string, number])[];
}

interface Started extends Running {
  first: readonly Output[];
  /** Runs between two looks at the clock. */
  loops: number;
}

/** Loads what starts a contestant: each in a chunk of its own, so that a page transfers only what it uses. */
export type Starts = Readonly<Partial<Record<RunName, () => Promise<Start>>>>;

/** The contestants of a page, and the steps of a race of theirs. */
export class ContestantSteps {
  readonly #starts: Starts;
  readonly #started = new Map<RunName, Started>();

  constructor(starts: Starts) {
    this.#starts = starts;
  }

  /** Fetches the elements of all tensors. */
  async prepare({ inputs, weights, expected, float32 }: BenchCase): Promise<void> {
    await Promise.all(
      [...inputs, ...weights, ...expected, ...(float32?.inputs ?? [])].map(async ({ url }) => {
        elements.set(url, await (await fetch(url)).arrayBuffer());
      }),
    );
  }

  /** Loads a runtime and runs the case once. */
  async start(name: RunName, benchCase: BenchCase, request: StartRequest): Promise<ColdStart> {
    await this.#started.get(name)?.stop?.();
    const parts: [string, number][] = [];
    const begin = performance.now();
    const load = this.#starts[name];
    if (load === undefined) throw new Error(`internal: nothing starts ${name}`);
    const start = await load();
    const running = await start(benchCase, {
      ...request,
      part: (part, ms) => void parts.push([part, ms]),
    });
    const ready = performance.now();
    const first = await running.run();
    const end = performance.now();
    parts.push(['first run', end - ready]);
    this.#started.set(name, { ...running, first, loops: 1 });
    return { totalMs: end - begin, parts };
  }

  /**
   * Runs untimed, for so long or so often, that code is compiled and memory is at hand. Resolves to the
   * time of the fastest run.
   */
  async warm(name: RunName, limit: WarmLimit): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    const begin = performance.now();
    for (let i = 0; i < limit.runs && performance.now() - begin < limit.ms; i++) {
      least = Math.min(least, await this.run(name, 0));
    }
    return least;
  }

  /** Milliseconds of a warm run: the mean of so many as take `leastMs`, at least one. */
  async run(name: RunName, leastMs: number): Promise<number> {
    const running = this.#running(name);
    let count = 0;
    const begin = performance.now();
    let taken = 0;
    do {
      for (let i = 0; i < running.loops; i++) running.first = await running.run();
      count += running.loops;
      taken = performance.now() - begin;
    } while (taken < leastMs);
    // Few looks at the clock, and no loop that is much longer than it has to be.
    if (leastMs > 0) running.loops = Math.max(1, Math.floor((count * leastMs) / taken / 2));
    return taken / count;
  }

  /**
   * Largest difference of a runtime's last outputs from what the model's author says, or from Weft's
   * where nobody says anything, over the range of the latter.
   */
  async compare(name: RunName, { expected }: BenchCase): Promise<number> {
    const [own, wefts] = [name, 'weft' as const].map((one) => this.#running(one).progress?.());
    if (own && wefts) return trainingDifference(own, wefts);
    const published = expected.map((tensor) => ({
      data: typedElements(tensor),
      shape: tensor.shape,
    }));
    return largestDifference(
      await this.lastOutputs(name),
      published.length > 0 ? published : await this.lastOutputs('weft'),
    );
  }

  /** The most bytes that a contestant held on its device, where they are counted. */
  async peakBytes(name: RunName): Promise<number | undefined> {
    return this.#running(name).peakBytes?.();
  }

  /** Frees what a contestant holds. */
  async stop(name: RunName): Promise<void> {
    const running = this.#started.get(name);
    this.#started.delete(name);
    await running?.stop?.();
  }

  /** The outputs of the last run, in ONNX's layout. */
  async lastOutputs(name: RunName): Promise<readonly Output[]> {
    const running = this.#running(name);
    const outputs = (await running.read?.()) ?? running.first;
    return running.canonical?.(outputs) ?? outputs;
  }

  #running(name: RunName): Started {
    const running = this.#started.get(name);
    if (running === undefined) throw new Error(`internal: ${name} was not started`);
    return running;
  }
}
