import { Checks } from './checks.ts';

type Part = (checks: Checks, words: readonly string[], flags: readonly string[]) => Promise<void>;

/** Parts of the demonstration by name, in the order in which they run; each ends within ten minutes on an idle machine. */
const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  operators: async () => (await import('../webmodels/operators.ts')).showOperators,
  graphs: async () => (await import('../webmodels/operators.ts')).showGraphs,
  models: async () => (await import('../webmodels/compare-models.ts')).showModels,
  tfjs: async () => (await import('../webmodels/tfjs/show-graphs.ts')).showGraphModels,
  live: async () => (await import('../webmodels/live/compare-live.ts')).showLive,
  times: async () => (await import('../webmodels/times.ts')).showTimes,
};

/**
 * `npm run show -- webmodels [PART [WORD …]] [--untimed]`: models of TensorFlow Lite and TensorFlow.js beside the runtimes that they were
 * made for, all parts or one. Resolves to 0 only when all of it holds; `--untimed` only tells the times.
 */
export async function main(given: readonly string[]): Promise<number> {
  const flags = given.filter((word) => word.startsWith('--'));
  const [name, ...words] = given.filter((word) => !flags.includes(word));
  if (name !== undefined && !Object.hasOwn(PARTS, name)) {
    console.error(
      `usage: npm run show -- webmodels [${Object.keys(PARTS).join('|')} [WORD …]] [--untimed]`,
    );
    return 2;
  }
  const checks = new Checks();
  for (const [part, load] of Object.entries(PARTS)) {
    if (name !== undefined && name !== part) continue;
    const begin = performance.now();
    await (await load())(checks, words, flags);
    console.log(`       (${part}: ${((performance.now() - begin) / 1000).toFixed(0)} s)`);
  }
  return checks.end();
}
