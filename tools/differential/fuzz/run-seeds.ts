import type { Graph } from './graph.ts';
import { randomGraph } from './random-graph.ts';
import { type Difference, differencesOf, type RunOptions, type Variant } from './run-graph.ts';

interface SeedsOptions extends Pick<RunOptions, 'devices'> {
  readonly first: number;
  readonly count: number;
  readonly filter?: RegExp | undefined;
  readonly variants: (seed: number) => readonly Variant[];
}

export interface SeedResult {
  readonly seed: number;
  readonly graph: Graph;
  readonly differences: readonly Difference[];
}

/** Graphs that are under way at once, so that the driver compiles for some while others run. */
const BATCH = 4;

/** Runs the graphs of seeds one after the other, in order. */
export async function* runSeeds(options: SeedsOptions): AsyncGenerator<SeedResult> {
  const { first, count, filter, variants, devices } = options;
  const run = async (seed: number): Promise<SeedResult> => {
    const graph = randomGraph({ seed, filter });
    const differences = await differencesOf(graph, { devices, variants: variants(seed) });
    return { seed, graph, differences };
  };
  const end = first + count;
  for (let seed = first; seed < end; seed += BATCH) {
    const seeds = Array.from({ length: Math.min(BATCH, end - seed) }, (_, i) => seed + i);
    yield* await Promise.all(seeds.map(run));
  }
}
