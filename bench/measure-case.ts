import type { Browser, Page } from 'playwright';
import type { BuiltCase, CasePlan, Peer, RunName, RuntimeName } from './cases/bench-case.ts';
import { type MachineCase, machineFiles } from './cases/machine-cases.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { ColdStart } from './page/page.ts';
import type { PageServer, SentBytes } from './serve-pages.ts';

export interface Lab {
  readonly browser: Browser;
  readonly server: PageServer;
  readonly peers: readonly Peer[];
  readonly runs: number;
}

export interface CaseResult {
  readonly name: string;
  readonly title: string;
  readonly runtimes: Readonly<Partial<Record<RuntimeName, RuntimeResult>>>;
  readonly cold: readonly ColdResult[];
  /** What transfer and launches alone take. */
  readonly floorMs: number;
}

export type RuntimeResult =
  | {
      readonly medianMs: number;
      readonly fastestMs: number;
      readonly runs: number;
      /** From published outputs, else from Weft's, over the range; absent for Weft without the former. */
      readonly difference: number | undefined;
    }
  | { readonly failure: string };

export interface ColdResult extends ColdStart {
  readonly runtime: RuntimeName;
  /** Which file Weft loaded. */
  readonly source: '.onnx' | '.weft' | '';
  readonly sent: SentBytes;
}

/** A step of a peer that takes longer has failed. */
const STEP_LIMIT_MS = 120_000;
/** Before anything is timed each runtime runs so often, or for so long, but twice at least. */
const WARM_LIMIT = { ms: 1000, runs: 20 };
const COLD_ROUNDS = 3;
/** Once a case took so long, no runtime runs more often than {@link FEWEST_RUNS}. */
const CASE_BUDGET_MS = 20_000;
const FEWEST_RUNS = 3;

/** Measures one case: cold starts in pages of their own, then all runtimes by turns in one page. */
export async function measureCase(lab: Lab, plan: CasePlan): Promise<CaseResult> {
  const built = plan.build();
  lab.server.offer(built.files);
  const names: RuntimeName[] = ['weft', ...lab.peers.filter((peer) => plan.peers.includes(peer))];
  const cold = plan.isCold ? await measureCold(lab, built, names) : [];
  return {
    name: plan.name,
    title: plan.title,
    cold,
    ...(await measureWarm(lab, built, names, plan.launches ?? 1)),
  };
}

/**
 * Each start in a fresh context: no cache of files, no compiled pipelines, a new device. The runtimes
 * start by turns, and of each the start of the median time counts.
 */
async function measureCold(
  lab: Lab,
  built: BuiltCase,
  names: readonly RuntimeName[],
): Promise<ColdResult[]> {
  const kinds = names.flatMap((runtime): Pick<ColdResult, 'runtime' | 'source'>[] => {
    if (runtime !== 'weft') return [{ runtime, source: '' }];
    return [
      { runtime, source: '.weft' },
      { runtime, source: '.onnx' },
    ];
  });
  const results = kinds.map((): ColdResult[] => []);
  const begin = performance.now();
  for (let round = 0; round < COLD_ROUNDS; round++) {
    if (round > 0 && performance.now() - begin > CASE_BUDGET_MS) break;
    for (const [i, kind] of kinds.entries()) {
      const result = await startCold(lab, built, kind);
      if (result !== undefined) results[i]?.push(result);
    }
  }
  return results.flatMap((starts) => {
    const sorted = starts.toSorted((a, b) => a.totalMs - b.totalMs);
    return sorted.slice(sorted.length >> 1, (sorted.length >> 1) + 1);
  });
}

async function startCold(
  lab: Lab,
  built: BuiltCase,
  { runtime, source }: Pick<ColdResult, 'runtime' | 'source'>,
): Promise<ColdResult | undefined> {
  const page = await openPage(lab);
  try {
    await page.evaluate((bench) => globalThis.bench.prepare(bench), built.benchCase);
    lab.server.takeSentBytes();
    const start = await limited(
      page.evaluate(([name, bench, options]) => globalThis.bench.start(name, bench, options), [
        runtime,
        built.benchCase,
        { isAheadOfTime: source === '.weft' },
      ] as const),
    );
    return { runtime, source, ...start, sent: lab.server.takeSentBytes() };
  } catch (error) {
    console.error(`  cold ${runtime}: ${messageOf(error)}`);
    return undefined;
  } finally {
    await page.context().close();
  }
}

interface WarmResults {
  readonly runtimes: Partial<Record<RuntimeName, RuntimeResult>>;
  readonly floorMs: number;
}

async function measureWarm(
  lab: Lab,
  { benchCase }: BuiltCase,
  names: readonly RuntimeName[],
  launches: number,
): Promise<WarmResults> {
  const page = await openPage(lab);
  const runtimes: Partial<Record<RuntimeName, RuntimeResult>> = {};
  const times = new Map<RunName, number[]>();
  const attempt = async (name: RunName, work: () => Promise<void>): Promise<void> => {
    try {
      await limited(work());
    } catch (error) {
      times.delete(name);
      if (name !== 'floor') runtimes[name] = { failure: messageOf(error) };
      console.error(`  ${name}: ${messageOf(error)}`);
    }
  };
  const begin = async (name: RunName): Promise<void> => {
    times.set(name, []);
    await attempt(name, async () => {
      if (name === 'floor') {
        await page.evaluate(([bench, launches]) => globalThis.bench.startFloor(bench, launches), [
          benchCase,
          launches,
        ] as const);
      } else {
        await page.evaluate(
          ([name, bench]) => globalThis.bench.start(name, bench, { isAheadOfTime: true }),
          [name, benchCase] as const,
        );
      }
      await page.evaluate(([name, limit]) => globalThis.bench.warm(name, limit), [
        name,
        WARM_LIMIT,
      ] as const);
    });
  };
  try {
    await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
    for (const name of names) await begin(name);
    if (times.has('weft')) await begin('floor');
    const start = performance.now();
    for (let i = 0; i < lab.runs; i++) {
      if (i >= FEWEST_RUNS && performance.now() - start > CASE_BUDGET_MS) break;
      for (const name of times.keys()) {
        await attempt(name, async () => {
          times.get(name)?.push(await page.evaluate((name) => globalThis.bench.run(name), name));
        });
      }
    }
    for (const name of names) {
      const ms = times.get(name);
      if (ms === undefined) continue;
      await attempt(name, async () => {
        const isCompared = benchCase.expected.length > 0 || (name !== 'weft' && times.has('weft'));
        const difference = isCompared
          ? await page.evaluate(([name, bench]) => globalThis.bench.compare(name, bench), [
              name,
              benchCase,
            ] as const)
          : undefined;
        runtimes[name] = {
          medianMs: median(ms),
          fastestMs: Math.min(...ms),
          runs: ms.length,
          difference,
        };
      });
    }
  } finally {
    await page.context().close();
  }
  return { runtimes, floorMs: median(times.get('floor') ?? []) };
}

/** Measures a cost of the machine itself. */
export async function measureMachine(
  lab: Lab,
  name: MachineCase,
): Promise<readonly MachineFigure[]> {
  const files = machineFiles(name);
  lab.server.offer(files);
  const programs = [...files.keys()].map((url) => ({
    url,
    size: Number(/(\d+)\.weft$/.exec(url)?.[1]),
  }));
  const page = await openPage(lab);
  try {
    return await limited(
      page.evaluate(([name, programs]) => globalThis.bench.machine(name, programs), [
        name,
        programs,
      ] as const),
    );
  } catch (error) {
    console.error(`  ${name}: ${messageOf(error)}`);
    return [];
  } finally {
    await page.context().close();
  }
}

/** A page of a context of its own. The browser's GPU process is running already. */
export async function openPage({
  browser,
  server,
}: Pick<Lab, 'browser' | 'server'>): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`  page: ${error.message}`));
  await page.goto(`${server.origin}/page.html`);
  await page.waitForFunction(() => 'bench' in globalThis);
  return page;
}

async function limited<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${STEP_LIMIT_MS / 1000} s`)),
      STEP_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.replace('page.evaluate: ', '').split('\n')[0] ?? '').slice(0, 160);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
