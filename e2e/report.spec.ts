import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import type Axe from 'axe-core';
import type { BenchReport } from '../bench/report/bench-report.ts';
import { expect, test } from './fixtures.ts';

declare const weftReport: BenchReport | undefined;

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
const RADIO = 'a part, about a minute';

test('the machine is measured until that is cancelled, and what there is can be saved', async ({
  page,
  browserName,
}) => {
  await page.goto('/report.html');
  await page.getByLabel(RADIO).check();
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByRole('status')).toHaveText('Correctness (2 of 6) …');
  await expect(page.getByText(/^\w+, (?:[5-9]|\d{2,3}) of \d{3}$/)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('status')).toHaveText(
    /^Cancelled after 0\.\d minutes\. Every kernel that was checked is right\.$/,
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
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText('digits on wasm, 1 of 3')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
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
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof Axe };
    return (await axe.run()).violations.map(({ id }) => id);
  });
  expect(violations).toEqual([]);
});
