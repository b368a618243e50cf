import type { Page } from '@playwright/test';
import { expect, testOfPage as test } from './fixtures.ts';
import type { OperatorRequest } from './pages/serve-operators.ts';
import type { ThreadsPage } from './pages/threads.ts';

// The cases of all operators in a browser's WebAssembly. Its name puts the file first: it takes longest.

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
