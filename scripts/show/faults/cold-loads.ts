import type { SessionPage } from '../../../e2e/pages/session.ts';
import { sumAndProduct } from '../../../src/worker/testing/test-programs.ts';
import { openPages } from '../../open-pages.ts';
import type { Row } from './row.ts';

declare const weft: SessionPage;

const LOADS = 50;
const MAX_SECONDS = 60;

/** Loads in Firefox, each in a page of its own with nothing kept, as a first visit has it. */
export async function coldLoads(): Promise<readonly Row[]> {
  const pages = await openPages({ browserName: 'firefox', only: ['e2e/pages/session.html'] });
  const outcomes = new Map<string, number>();
  let longest = 0;
  try {
    const bytes = Array.from(sumAndProduct().toBytes());
    for (let i = 0; i < LOADS; i++) {
      const context = await pages.browser.newContext();
      const page = await context.newPage();
      const begin = performance.now();
      await page.goto(`${pages.address}e2e/pages/session.html`);
      await page.waitForSelector('html[data-ready]', { state: 'attached' });
      const load = page.evaluate(async (given) => {
        const failure = await weft.failure(
          weft.Session.load(new Uint8Array(given)).then((session) => session.dispose()),
        );
        return failure.name === 'none' ? 'loaded' : failure.name;
      }, bytes);
      const silence = new Promise<string>((resolve) => {
        setTimeout(resolve, MAX_SECONDS * 1000, 'no word');
      });
      const outcome = await Promise.race([load, silence]);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      longest = Math.max(longest, performance.now() - begin);
      await context.close();
    }
  } finally {
    await pages.close();
  }
  const got = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  return [
    {
      title: `Firefox: ${LOADS} cold loads`,
      wanted: `a result or an error within ${MAX_SECONDS} s`,
      got: `${got}; the longest took ${(longest / 1000).toFixed(1)} s`,
      ok: !outcomes.has('no word'),
    },
  ];
}
