import { Checks } from './checks.ts';

/** Parts of the demonstration by name, in the order in which they run. Each reports to the checks. */
const PARTS: Readonly<
  Record<string, () => Promise<{ show(checks: Checks, words: readonly string[]): Promise<void> }>>
> = {
  onnxruntime: () => import('../peers/text/onnxruntime.ts'),
  wllama: () => import('../peers/text/wllama.ts'),
};

/** `npm run show -- text [PART [WORD …]]`: all parts, or one. */
export async function main([name, ...words]: readonly string[]): Promise<number> {
  if (name !== undefined && !Object.hasOwn(PARTS, name)) {
    console.error(`usage: npm run show -- text [${Object.keys(PARTS).join('|')}]`);
    return 2;
  }
  const checks = new Checks();
  for (const [part, load] of Object.entries(PARTS)) {
    if (name !== undefined && name !== part) continue;
    const begin = performance.now();
    await (await load()).show(checks, words);
    console.log(`       (${part}: ${((performance.now() - begin) / 1000).toFixed(0)} s)`);
  }
  return checks.end();
}
