import { Checks } from './checks.ts';

/** Parts of the demonstration by name, in the order in which they run. Each reports to the checks. */
const PARTS: Readonly<Record<string, () => Promise<{ show(checks: Checks): Promise<void> }>>> = {
  receipts: () => import('../real-models/tasks/receipts.ts'),
  speech: () => import('../real-models/tasks/speech.ts'),
  transcription: () => import('../real-models/tasks/transcription.ts'),
  backgrounds: () => import('../real-models/tasks/backgrounds.ts'),
  'wake-words': () => import('../real-models/tasks/wake-words.ts'),
};

/** `npm run show -- tasks [PART]`: tasks on the weights that people use. Resolves to 0 only when all of it holds. */
export async function main([name]: readonly string[]): Promise<number> {
  if (name !== undefined && !Object.hasOwn(PARTS, name)) {
    console.error(`usage: npm run show -- tasks [${Object.keys(PARTS).join('|')}]`);
    return 2;
  }
  const checks = new Checks();
  for (const [part, load] of Object.entries(PARTS)) {
    if (name !== undefined && name !== part) continue;
    const begin = performance.now();
    await (await load()).show(checks);
    console.log(`       (${part}: ${((performance.now() - begin) / 1000).toFixed(0)} s)`);
  }
  return checks.end();
}
