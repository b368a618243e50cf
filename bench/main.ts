/** The benchmarks by name. Each resolves to an exit status, and says with `--help` or in README.md what it takes. */
const BENCHMARKS: Readonly<
  Record<string, () => Promise<{ main(args: readonly string[]): Promise<number> }>>
> = {
  peers: () => import('./peers.ts'),
  report: () => import('./report/main.ts'),
  kernels: () => import('./kernels/main.ts'),
  compile: () => import('./compile/main.ts'),
  rpc: () => import('./rpc/main.ts'),
  text: () => import('./text/speed.ts'),
  grammar: () => import('./text/grammar.ts'),
  eager: () => import('./eager.ts'),
};

/** `npm run bench -- [NAME] [OPTIONS]`: without a name Weft against other runtimes. */
export async function main(args: readonly string[]): Promise<number> {
  const [first = '-', ...rest] = args;
  if (first.startsWith('-')) return (await import('./peers.ts')).main(args);
  const load = Object.hasOwn(BENCHMARKS, first) ? BENCHMARKS[first] : undefined;
  if (load === undefined) {
    console.error(`usage: npm run bench -- [${Object.keys(BENCHMARKS).join('|')}] [OPTIONS]`);
    return 2;
  }
  return (await load()).main(rest);
}
