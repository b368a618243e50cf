/** What there is to see, by name. Each resolves to an exit status: 0 only when all of it holds. */
const SHOWS: Readonly<Record<string, () => Promise<{ main(): Promise<number> }>>> = {
  rpc: () => import('./show/rpc.ts'),
  snapshot: () => import('./show/snapshot.ts'),
  many: () => import('./show/many.ts'),
  fleet: () => import('./show/fleet.ts'),
};

/** `npm run show -- NAME`. */
export async function main([name = '']: readonly string[]): Promise<number> {
  const show = Object.hasOwn(SHOWS, name) ? SHOWS[name] : undefined;
  if (show === undefined) {
    console.error(`usage: npm run show -- ${Object.keys(SHOWS).join('|')}`);
    return 2;
  }
  return (await show()).main();
}
