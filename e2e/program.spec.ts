import { expect, testOfPage as test } from './fixtures.ts';
import type { ProgramPage } from './pages/program.ts';

/** Those of the host device. */
const BITS = [2895194379, 4185947648, 1300703658, 1906787632];
const WALK = ['0.02599', '0.40736', '1.22544'];

declare const weftProgram: ProgramPage;

test.use({ address: '/e2e/pages/program.html' });

test('a network is trained by programs that the worker compiles, under a strict policy', async ({
  page,
}) => {
  const { first, last, compiled } = await page.evaluate(() => weftProgram.train(40));
  expect(first).toBeGreaterThan(0.9);
  expect(last).toBeLessThan(0.8 * first);
  // The initial weights are eager; the step is one program.
  expect(compiled).toBeLessThanOrEqual(3);
});

test('numbers by keys, mapped functions and eager arrays', async ({ page }) => {
  const { bits, walk } = await page.evaluate(() => weftProgram.numbers());
  expect(bits).toEqual(BITS);
  expect(walk.map((at) => at.toFixed(5))).toEqual(WALK);
  expect(await page.evaluate(() => weftProgram.distances())).toEqual([
    [0, 10],
    [5, 5],
  ]);
  expect(await page.evaluate(() => weftProgram.eager())).toEqual({
    values: [54, 58, 62, 66],
    compiled: 1,
  });
});

test('a mistake is told when it is written down', async ({ page }) => {
  expect(await page.evaluate(() => weftProgram.mistake())).toContain(
    'matmul: got float32 (2, 3) and float32 (2, 3), expected rank 1 or more',
  );
});
