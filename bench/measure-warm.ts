import type { Page } from 'playwright';
import type { BenchCase, CasePlan } from './cases/bench-case.ts';
import { contestantsOf } from './contestants.ts';
import { type Lab, openPage } from './open-page.ts';
import { Race, type RaceSteps, type WarmResults } from './race.ts';

/** Measures a case with all contestants by turns in one page. */
export async function measureWarm(
  lab: Lab,
  plan: CasePlan,
  benchCase: BenchCase,
): Promise<WarmResults> {
  const page = await openPage(lab);
  const race = new Race(stepsIn(page), lab);
  try {
    await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
    for (const contestant of contestantsOf(lab, plan, benchCase)) {
      await race.enter(contestant);
    }
    await race.run();
    return await race.finish(benchCase);
  } finally {
    await page.context().close();
  }
}

/** The steps of the page, called from here. */
const stepsIn = (page: Page): RaceSteps => ({
  start: (...given) =>
    page.evaluate(([name, bench, request]) => globalThis.bench.start(name, bench, request), given),
  warm: (...given) => page.evaluate(([name, limit]) => globalThis.bench.warm(name, limit), given),
  run: (...given) => page.evaluate(([name, leastMs]) => globalThis.bench.run(name, leastMs), given),
  compare: (...given) =>
    page.evaluate(([name, bench]) => globalThis.bench.compare(name, bench), given),
});
