import type { Page } from 'playwright';
import type { BenchCase, BuiltCase, CasePlan, RuntimeName } from './cases/bench-case.ts';
import { type MachineCase, machinePrograms } from './cases/machine-cases.ts';
import { bestCells, type Cell, cellsOf } from './cells.ts';
import { contestantsOf, startRequest } from './contestants.ts';
import { limited, messageOf } from './limited.ts';
import type { Lab } from './lab.ts';
import { inPage } from './open-page.ts';
import type { ColdStart } from './page/contestant-steps.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import { Race, type RaceSteps, type WarmResults } from './race.ts';
import type { SentBytes } from './serve-pages.ts';

export interface CaseResult {
  readonly name: string;
  readonly title: string;
  /** Of the first time that the case was measured. */
  readonly runtimes: WarmResults;
  readonly cells: readonly Cell[];
  readonly cold: readonly ColdResult[];
}

/** How often a case is measured again that nearly reaches a target. */
const REPEATS = 2;
/** Of a step of training, of which the first one compiles. */
const TRAINING_LIMIT_MS = 900_000;

/** Measures one case: cold starts in pages of their own, and all runtimes by turns in one page. */
export async function measureCase(lab: Lab, plan: CasePlan): Promise<CaseResult> {
  const built = plan.build();
  lab.server.offer(built.files);
  const startCold = (isInPage: boolean): Promise<ColdResult[]> =>
    plan.targets.cold === undefined
      ? Promise.resolve([])
      : measureCold(lab, { plan, built }, { isInPage });
  const isEarly = lab.method.inPageMs === 0;
  const early = isEarly ? await startCold(false) : [];
  const runtimes = await measureWarm(lab, plan, built.benchCase);
  let cells = cellsOf(lab, plan, runtimes);
  for (let i = 0; i < REPEATS && cells.some(({ isClose }) => isClose); i++) {
    const again = await measureWarm(lab, plan, built.benchCase);
    cells = bestCells(cells, cellsOf(lab, plan, again));
  }
  const { weft } = runtimes;
  const isInPage = weft !== undefined && 'ms' in weft && weft.isInPage;
  return {
    name: plan.name,
    title: plan.title,
    runtimes,
    cells,
    cold: isEarly ? early : await startCold(isInPage),
  };
}

/** Measures a cost of the machine itself. */
export async function measureMachine(
  lab: Lab,
  name: MachineCase,
): Promise<readonly MachineFigure[]> {
  const { programs, files } = machinePrograms(name);
  lab.server.offer(files);
  const given = [name, programs, lab.device] as const;
  try {
    return await inPage(lab, (page) =>
      limited(page.evaluate((given) => globalThis.bench.machine(...given), given)),
    );
  } catch (error) {
    console.error(`  ${name}: ${messageOf(error)}`);
    return [];
  }
}

/** Measures a case with all contestants by turns in one page. */
const measureWarm = (lab: Lab, plan: CasePlan, benchCase: BenchCase): Promise<WarmResults> =>
  inPage(lab, async (page) => {
    const limitMs = plan.isTraining === true ? TRAINING_LIMIT_MS : undefined;
    const race = new Race(stepsIn(page), { ...lab, limitMs });
    await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
    for (const contestant of contestantsOf(lab, plan, benchCase)) await race.enter(contestant);
    await race.run();
    return race.finish(benchCase);
  });

/** The steps of the page, called from here. */
const stepsIn = (page: Page): RaceSteps => ({
  start: (...given) => page.evaluate((given) => globalThis.bench.start(...given), given),
  warm: (...given) => page.evaluate((given) => globalThis.bench.warm(...given), given),
  run: (...given) => page.evaluate((given) => globalThis.bench.run(...given), given),
  compare: (...given) => page.evaluate((given) => globalThis.bench.compare(...given), given),
  peakBytes: (name) => page.evaluate((name) => globalThis.bench.peakBytes(name), name),
});

export interface ColdResult extends ColdStart {
  readonly runtime: RuntimeName;
  /** Which file Weft loaded. */
  readonly source: '.onnx' | '.weft' | '';
  readonly sent: SentBytes;
}

type ColdKind = Pick<ColdResult, 'runtime' | 'source'>;

interface ColdOptions {
  /** True if Weft is in the page's own thread, as in the warm runs. */
  readonly isInPage: boolean;
}

/** Rounds of those that no time was promised for. */
const UNPROMISED_ROUNDS = 3;

/**
 * Each start in a fresh context: no cache of files, no compiled pipelines, a new device. The runtimes
 * start by turns, and of each the start of the median time counts, or the fastest.
 */
async function measureCold(
  lab: Lab,
  { plan, built }: { readonly plan: CasePlan; readonly built: BuiltCase },
  options: ColdOptions,
): Promise<ColdResult[]> {
  const peers = lab.peers.filter((peer) => plan.peers.includes(peer));
  const kinds: readonly ColdKind[] = [
    { runtime: 'weft', source: '.weft' },
    { runtime: 'weft', source: '.onnx' },
    ...peers.map((runtime) => ({ runtime, source: '' as const })),
  ];
  const { rounds, budgetMs, statistic } = lab.method.cold;
  const results = kinds.map((): ColdResult[] => []);
  const begin = performance.now();
  for (let round = 0; round < Math.min(rounds, lab.runs); round++) {
    if (round > 0 && performance.now() - begin > budgetMs) break;
    for (const [i, kind] of kinds.entries()) {
      if (round >= UNPROMISED_ROUNDS && kind.source === '.onnx') continue;
      const result = await startCold(lab, { plan, built, kind }, options);
      if (result !== undefined) results[i]?.push(result);
    }
  }
  return results.flatMap((starts) => {
    const sorted = starts.toSorted((a, b) => a.totalMs - b.totalMs);
    const index = statistic === 'median' ? sorted.length >> 1 : 0;
    return sorted.slice(index, index + 1);
  });
}

interface ColdCase {
  readonly plan: CasePlan;
  readonly built: BuiltCase;
  readonly kind: ColdKind;
}

async function startCold(
  lab: Lab,
  { plan, built: { benchCase }, kind: { runtime, source } }: ColdCase,
  { isInPage }: ColdOptions,
): Promise<ColdResult | undefined> {
  const request = startRequest(lab, plan.launches);
  const given = [
    runtime,
    benchCase,
    { ...request, isInPage, isAheadOfTime: source === '.weft' },
  ] as const;
  try {
    return await inPage(lab, async (page) => {
      await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
      lab.server.takeSentBytes();
      const start = await limited(
        page.evaluate((given) => globalThis.bench.start(...given), given),
      );
      return { runtime, source, ...start, sent: lab.server.takeSentBytes() };
    });
  } catch (error) {
    console.error(`  cold ${runtime}: ${messageOf(error)}`);
    return undefined;
  }
}
