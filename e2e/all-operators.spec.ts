import type { Page } from '@playwright/test';
import { expect, testOfPage as test } from './fixtures.ts';
import type { Memory64Page } from './pages/memory64.ts';
import type { OperatorRequest } from './pages/serve-operators.ts';
import type { ThreadsPage } from './pages/threads.ts';

// The cases of all operators in a browser's WebAssembly. Its name puts the file first: it takes longest.

declare const weftMemory64: Memory64Page;
declare const weftThreads: ThreadsPage;

test.describe('on two threads with one memory', () => {
  test.use({ address: '/e2e/pages/threads.html' });

  test('relaxed SIMD on', ({ page }) =>
    expectThreads(page, { relaxedSimd: true, isApart: false }, 1000));

  // src/device/wasm/threads/threads.test.ts runs these kernels in Node.
  test('relaxed SIMD off @long', ({ page }) =>
    expectThreads(page, { relaxedSimd: false, isApart: false }, 1000));
});

test.describe('on two threads with memories of their own', () => {
  test.use({ address: '/e2e/pages/threads-apart.html' });

  test('relaxed SIMD on', ({ page }) =>
    expectThreads(page, { relaxedSimd: true, isApart: true }, 60));
});

/** Compares one thread with the reference, and two threads with one. */
async function expectThreads(
  page: Page,
  request: OperatorRequest,
  leastRuns: number,
): Promise<void> {
  const found = await page.evaluate((asked) => weftThreads.operators(asked), request);
  expect(found.differences).toEqual([]);
  expect(found.changed).toEqual([]);
  expect(found.operatorCount).toBeGreaterThan(100);
  expect(found.threads).toBe(2);
  expect(found.runs).toBeGreaterThan(leastRuns);
}

test.describe('at addresses of 64 bits', () => {
  test.use({ address: '/e2e/pages/memory64.html' });

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
});
