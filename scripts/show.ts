/** The demonstrations by name. Each resolves to an exit status: 0 only if all of it holds. */
const SHOWS: Readonly<
  Record<string, () => Promise<{ main(words: readonly string[]): Promise<number> }>>
> = {
  rpc: () => import('./show/rpc.ts'),
  snapshot: () => import('./show/snapshot.ts'),
  many: () => import('./show/many.ts'),
  fleet: () => import('./show/fleet.ts'),
  consumers: () => import('./show/consumers.ts'),
  engines: () => import('./show/engines.ts'),
  faults: () => import('./show/faults.ts'),
  language: () => import('./show/language.ts'),
  gradients: () => import('./show/gradients.ts'),
  train: () => import('./show/train.ts'),
  text: () => import('./show/text.ts'),
  float16: () => import('./show/float16.ts'),
  compare: () => import('./show/compare.ts'),
  tasks: () => import('./show/tasks.ts'),
  inspector: () => import('./show/inspector.ts'),
  lighthouse: () => import('./show/lighthouse.ts'),
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
