import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { Run, ThreadsPage } from './pages/threads.ts';

declare const weftThreads: ThreadsPage;

// A worker of Firefox that starts another one sometimes waits for ever inside of the browser while
// WebDriver watches: docs/engines.md.
test.describe.configure({ retries: 2 });

test.beforeEach(async ({ page }) => open(page, 'threads'));

async function open(page: Page, name: string): Promise<void> {
  await page.goto(`/e2e/pages/${name}.html`);
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
}

/** Opens a page that is not isolated. */
const openApart = (page: Page): Promise<void> => open(page, 'threads-apart');

test('an isolated page has threads, and the results of one', async ({ page }) => {
  expect(await page.evaluate(() => weftThreads.isIsolated())).toBe(true);
  const run = (threads: number | undefined): Promise<Run> =>
    page.evaluate((wanted) => weftThreads.run(wanted, 'threads'), threads);
  const one = await run(1);
  expect(one.device.threads).toBe(1);
  expect(one.results).toHaveLength(1);
  const two = await run(2);
  expect(two.device.threads).toBe(2);
  expect(two.results).toEqual(one.results);
  const cores = await page.evaluate(() => navigator.hardwareConcurrency);
  const usual = await run(undefined);
  expect(usual.device.threads).toBe(Math.max(1, Math.min(8, cores - 1)));
  expect(usual.results).toEqual(one.results);
});

test('one thread runs in the page itself', async ({ page }) => {
  const run = await page.evaluate(() => weftThreads.run(2, 'page'));
  expect(run.device.threads).toBe(1);
  expect(run.results).toHaveLength(1);
});

test('a policy that forbids threads leaves one', async ({ page, watched }) => {
  const alone = await page.evaluate(() => weftThreads.run(1, 'threads'));
  const forbidden = await page.evaluate(() => weftThreads.run(2, 'threadless'));
  expect(forbidden.results).toEqual(alone.results);
  expect(forbidden.later).toMatchObject({ kind: 'wasm', threads: 1 });
  watched.complaints.length = 0;
});

test('a page that is not isolated has as many threads as it asks for, one by default', async ({
  page,
  watched,
}) => {
  await openApart(page);
  expect(await page.evaluate(() => weftThreads.isIsolated())).toBe(false);
  const run = (threads: number | undefined): Promise<Run> =>
    page.evaluate((wanted) => weftThreads.run(wanted, 'threads'), threads);
  const usual = await run(undefined);
  expect(usual.device.threads).toBe(1);
  expect(usual.results).toHaveLength(1);
  const two = await run(2);
  expect(two.device.threads).toBe(2);
  expect(two.later.threads).toBe(2);
  expect(two.results).toEqual(usual.results);
  const forbidden = await page.evaluate(() => weftThreads.run(2, 'threadless'));
  expect(forbidden.results).toEqual(usual.results);
  expect(forbidden.later).toMatchObject({ kind: 'wasm', threads: 1 });
  watched.complaints.length = 0;
});

const KINDS = [
  { relaxedSimd: false, isApart: false, leastRuns: 1000 },
  { relaxedSimd: true, isApart: false, leastRuns: 1000 },
  { relaxedSimd: true, isApart: true, leastRuns: 60 },
];
test.describe('operators', () => {
  for (const { leastRuns, ...kind } of KINDS) {
    const { relaxedSimd, isApart } = kind;
    const memory = isApart ? 'memories of their own' : 'one memory';
    test(`on two threads with ${memory}, relaxed SIMD ${relaxedSimd ? 'on' : 'off'}`, async ({
      page,
    }) => {
      test.setTimeout(180_000);
      if (isApart) await openApart(page);
      const found = await page.evaluate((asked) => weftThreads.operators(asked), kind);
      expect(found.differences).toEqual([]);
      expect(found.changed).toEqual([]);
      expect(found.operatorCount).toBeGreaterThan(100);
      expect(found.threads).toBe(2);
      expect(found.runs).toBeGreaterThan(leastRuns);
    });
  }
});
