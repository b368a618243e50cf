import { Checks } from './text/checks.ts';

/** Parts of the demonstration by name, in the order in which they run. Each reports to the checks. */
const PARTS: Readonly<
  Record<string, () => Promise<{ show(checks: Checks, words: readonly string[]): Promise<void> }>>
> = {
  moved: () => import('./text/moved.ts'),
  speculative: () => import('./text/speculative.ts'),
  wllama: () => import('./text/wllama.ts'),
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
    await (await load()).show(checks, words);
  }
  return checks.end();
}
