import type { MachineFigure } from './page/machine-steps.ts';
import { machineComplaints, machineTable } from './report.ts';

type Args = readonly string[];

/** The benchmarks by name. Each resolves to an exit status, and says with `--help` or in README.md what it takes. */
const BENCHMARKS: Readonly<Record<string, () => Promise<{ main(args: Args): Promise<number> }>>> = {
  peers: () => import('./peers.ts'),
  report: () => import('./report/main.ts'),
  kernels: () => import('./kernels/main.ts'),
  compile: () => import('./compile.ts'),
  text: () => import('./text/speed.ts'),
  rpc: () => costs(import('./rpc.ts')),
  grammar: () => costs(import('./text/grammar.ts')),
};

interface Costs {
  measure(args: Args): Promise<MachineFigure[]>;
}

/** What measures costs in Node: prints them, and resolves to 1 where one is above what was promised. */
const costs = async (module: Promise<Costs>) => ({
  async main(args: Args): Promise<number> {
    const figures = await (await module).measure(args);
    console.log(machineTable(figures));
    const missed = machineComplaints(figures);
    for (const line of missed) console.error(`missed: ${line}`);
    return missed.length === 0 ? 0 : 1;
  },
});

/** `npm run bench -- [NAME] [OPTIONS]`: without a name Weft against other runtimes. */
export async function main(args: Args): Promise<number> {
  const [first = '-', ...rest] = args;
  if (first.startsWith('-')) return (await import('./peers.ts')).main(args);
  const load = Object.hasOwn(BENCHMARKS, first) ? BENCHMARKS[first] : undefined;
  if (load === undefined) {
    console.error(`usage: npm run bench -- [${Object.keys(BENCHMARKS).join('|')}] [OPTIONS]`);
    return 2;
  }
  return (await load()).main(rest);
}
