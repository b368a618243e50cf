import { expect, testOfPage as test } from './fixtures.ts';
import type { Run, ThreadsPage } from './pages/threads.ts';

declare const weftThreads: ThreadsPage;

test.use({ address: '/e2e/pages/threads.html' });

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

test.describe('a page that is not isolated', () => {
  test.use({ address: '/e2e/pages/threads-apart.html' });

  test('has as many threads as it asks for, one by default', async ({ page, watched }) => {
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
});
