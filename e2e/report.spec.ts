import type { Page } from '@playwright/test';
import { readFile } from 'node:fs/promises';
import type { BenchReport } from '../bench/report/bench-report.ts';
import { AXE, violationsOf } from './demo-page.ts';
import { expect, test } from './fixtures.ts';

declare const weftReport: BenchReport | undefined;

const RADIO = 'a part, about a minute';

/** Starts, and cancels when what is measured at the moment has such a name; what the status was then. */
function startUntil(page: Page, name: RegExp): Promise<string> {
  return page.evaluate((source) => {
    const [detail, status] = [document.getElementById('detail'), document.getElementById('status')];
    if (detail === null || status === null) throw new Error('no report');
    const pattern = new RegExp(source);
    document.getElementById('start')?.click();
    return new Promise<string>((resolve) => {
      new MutationObserver((_, observer) => {
        if (!pattern.test(detail.textContent)) return;
        observer.disconnect();
        // The status is set after it.
        queueMicrotask(() => {
          resolve(status.textContent);
          document.getElementById('cancel')?.click();
        });
      }).observe(detail, { childList: true });
    });
  }, name.source);
}

test('the machine is measured until that is cancelled, and what there is can be saved', async ({
  page,
  browserName,
}) => {
  await page.goto('/report.html');
  await page.getByLabel(RADIO).check();
  const said = await startUntil(page, /^\w+, (?:[5-9]|\d{2,3}) of \d{3}$/);
  expect(said).toBe('Correctness (2 of 6) …');
  await expect(page.getByRole('status')).toHaveText(
    /^Cancelled after \d+\.\d minutes\. Every kernel that was checked is right\.$/,
  );
  await expect(page.getByRole('cell', { name: 'elementwise', exact: true })).toBeVisible();
  await expect(page.getByRole('cell', { name: 'software adapters' })).toBeVisible();
  const link = page.getByRole('link', { name: 'Save as JSON' });
  await expect(link).toHaveAttribute('download', /^weft-report-\d{4}-\d\d-\d\d\.json$/);
  // Playwright hears of downloads in Chromium alone.
  const download = browserName === 'chromium' ? page.waitForEvent('download') : undefined;
  if (download !== undefined) await link.click();
  const path = await (await download)?.path();
  const report =
    path === undefined
      ? await page.evaluate(() => weftReport)
      : (JSON.parse(await readFile(path, 'utf8')) as BenchReport);
  expect(report).toMatchObject({
    schema: 'weft-bench-report',
    version: 1,
    scope: 'quick',
    state: 'cancelled',
    adapter: { adapterClass: 'software' },
  });
  expect(report?.families[0]).toMatchObject({ family: 'elementwise', differences: [] });
  expect(report?.families[0]?.caseCount).toBeGreaterThan(3);
  expect(report?.adapter?.limits['maxBufferSize']).toBeGreaterThan(2 ** 27);
  // A second start begins anew.
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(link).toBeHidden();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('status')).toHaveText(/^Cancelled/);
});

test('without WebGPU the models run on the processor, and the page says so', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'gpu', { value: undefined, configurable: true });
  });
  await page.goto('/report.html');
  await page.getByLabel(RADIO).check();
  await startUntil(page, /^digits on wasm, 1 of 3$/);
  await expect(page.getByRole('status')).toHaveText(/There is no WebGPU here\.$/);
  await expect(
    page.getByRole('cell', { name: /^adapter: WebGPU: got no `gpu` object/ }),
  ).toBeVisible();
  await expect(page.getByRole('cell', { name: 'wasm', exact: true })).toBeVisible();
});

test('nothing is wrong with the page for axe-core, at both widths', async ({ page }) => {
  await page.goto('/report.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  for (const width of [360, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    const needed = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(needed).toBeLessThanOrEqual(width);
  }
  await page.evaluate(AXE);
  expect(await violationsOf(page)).toEqual([]);
});
