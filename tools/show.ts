/** The demonstrations by name. Each resolves to an exit status: 0 only if all of it holds. */
const SHOWS: Readonly<
  Record<string, () => Promise<{ main(words: readonly string[]): Promise<number> }>>
> = {
  consumers: () => import('./show/consumers.ts'),
  engines: () => import('./show/engines.ts'),
  faults: () => import('./show/faults.ts'),
  text: () => import('./peers/text/wllama.ts'),
  tasks: () => import('./show/tasks.ts'),
  webmodels: () => import('./show/webmodels.ts'),
  lighthouse: () => import('./show/lighthouse.ts'),
  'first-sight': () => import('./show/first-sight.ts'),
};

/** `npm run show -- NAME [WORD …]`. */
export async function main([name = '', ...words]: readonly string[]): Promise<number> {
  const show = Object.hasOwn(SHOWS, name) ? SHOWS[name] : undefined;
  if (show === undefined) {
    console.error(`usage: npm run show -- ${Object.keys(SHOWS).join('|')}`);
    return 2;
  }
  return (await show()).main(words);
}
