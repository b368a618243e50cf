import type { BrowserContext, Page } from 'playwright';
import { openPages } from '../open-pages.ts';

/** The page may be closed here; the training has so many steps in all. */
const CLOSE_AT = 120;
/** The page shows figures every 250 ms, of steps that take 10 ms at least. */
const MOST_UNSHOWN = 25;
const REQUIRED = 0.97;
const LIMIT_MS = 8 * 60_000;
/** Longer than this, and a person would notice. */
const LONGEST_TASK_MS = 50;

/** Trains the digit network in a page, closes it in the middle, goes on, and reads a digit with it. */
export async function main(): Promise<number> {
  const pages = await openPages();
  const started = performance.now();
  try {
    const context = await pages.browser.newContext();
    const first = await openTraining(context, pages.address);
    await first.getByRole('button', { name: 'Train' }).click();
    await untilStep(first, CLOSE_AT);
    const [closedAt, longest] = [await stepOf(first), await longestTask(first)];
    await first.close();
    const second = await openTraining(context, pages.address);
    await untilStep(second, 1);
    const resumedAt = await stepOf(second);
    await second.getByRole('button', { name: 'Go on' }).click();
    await second.waitForFunction(
      () => document.getElementById('train-facts')?.textContent?.includes('Result'),
      undefined,
      { timeout: LIMIT_MS },
    );
    const minutes = (performance.now() - started) / 60_000;
    const facts = (await second.locator('#train-facts').textContent()) ?? '';
    const [, right = '0', all = '1'] = /reads ([\d,]+) of ([\d,]+) digits/.exec(facts) ?? [];
    const share = Number(right.replaceAll(',', '')) / Number(all.replaceAll(',', ''));
    const longestOfBoth = Math.max(longest, await longestTask(second));
    const answer = await drawWith(second);
    const results = [
      report(
        resumedAt > 1 && resumedAt <= closedAt + MOST_UNSHOWN,
        `closed at step ${closedAt}, went on at step ${resumedAt}`,
      ),
      report(share >= REQUIRED, `${right} of ${all} digits that no step saw are read right`),
      report(minutes * 60_000 <= LIMIT_MS, `${minutes.toFixed(1)} minutes, of at most 8`),
      report(
        longestOfBoth <= LONGEST_TASK_MS,
        `the page's longest task while it trained: ${longestOfBoth.toFixed(0)} ms`,
      ),
      report(answer === '7', `the Draw tab reads a seven with the new network: ${answer}`),
    ];
    return results.every(Boolean) ? 0 : 1;
  } finally {
    await pages.close();
  }
}

function report(isGood: boolean, text: string): boolean {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
  return isGood;
}

async function openTraining(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  await page.goto(`${address}#train`);
  await page.waitForFunction(() =>
    document.getElementById('train-facts')?.textContent?.startsWith('Steps'),
  );
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
  });
  return page;
}

async function stepOf(page: Page): Promise<number> {
  const facts = (await page.locator('#train-facts').textContent()) ?? '';
  return Number(/Steps(\d+) of/.exec(facts)?.[1] ?? 0);
}

async function untilStep(page: Page, step: number): Promise<void> {
  while ((await stepOf(page)) < step) await page.waitForTimeout(200);
}

/** In milliseconds, of the page's own thread; 0 where none took 50. */
function longestTask(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, ...(globalThis as unknown as { tasks: number[] }).tasks));
}

async function drawWith(page: Page): Promise<string> {
  await page.getByRole('tab', { name: 'Draw' }).click();
  await page.getByRole('button', { name: 'Write a 7' }).click();
  const chosen = await page.locator('#draw-network').inputValue();
  console.log(`       the Draw tab uses the network that was ${chosen}`);
  await page.waitForFunction(() => document.getElementById('answer')?.textContent !== '–');
  return (await page.locator('#answer').textContent()) ?? '';
}
