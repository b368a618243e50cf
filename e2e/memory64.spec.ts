import { expect, test } from './fixtures.ts';
import type { Memory64Page } from './pages/memory64.ts';

declare const weftMemory64: Memory64Page;

test.beforeEach(async ({ page }) => {
  await page.goto('/e2e/pages/memory64.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
});

test('a program of more than 4 GiB has addresses of 64 bits', async ({ page }) => {
  const { device, result } = await page.evaluate(() => weftMemory64.run());
  expect(device).toMatchObject({ kind: 'wasm', threads: 1 });
  expect(device.reason).toBe("The session requested 'wasm'. It needs addresses of 64 bits.");
  expect(result).toEqual([2, 4, 6]);
});

test('operators behind 4 GiB', async ({ page }) => {
  test.setTimeout(600_000);
  const found = await page.evaluate(() => weftMemory64.operators());
  expect(found.changed).toEqual([]);
  expect(found.differences).toEqual([]);
  expect(found.operatorCount).toBeGreaterThan(100);
  expect(found.accessCount).toBeGreaterThan(100_000);
  expect(found.firstAddress).toBeGreaterThan(5 * 2 ** 30);
});
