import type { CasePlan } from './cases/bench-case.ts';
import { type MachineCase, machineFiles } from './cases/machine-cases.ts';
import { bestCells, type Cell, cellsOf } from './cells.ts';
import { type ColdResult, measureCold } from './measure-cold.ts';
import { limited, messageOf } from './limited.ts';
import { measureWarm } from './measure-warm.ts';
import { type Lab, openPage } from './open-page.ts';
import type { WarmResults } from './race.ts';
import type { MachineFigure } from './page/machine-steps.ts';

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
