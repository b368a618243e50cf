import type { Page } from '@playwright/test';
import { keptSteps, lookAt } from './demo-page.ts';
import { expect, test } from './fixtures.ts';

async function openTraining(page: Page): Promise<void> {
  await page.goto('/#train');
  await expect(page.locator('#train-facts')).toContainText('Steps');
}

async function stepOf(page: Page): Promise<number> {
  const text = (await page.locator('#train-facts').textContent()) ?? '';
  return Number(/Steps(\d+) of/.exec(text)?.[1] ?? 0);
}

test('trains the digit network, goes on in another tab, and offers it to the first', async ({
  context,
}) => {
  const first = await context.newPage();
  // It moves before anybody touches it.
  await openTraining(first);
  await expect(first.locator('#train-plots polyline').first()).toHaveAttribute('points', /,.* .*,/);
  await first.getByRole('button', { name: 'Pause' }).click();
  const pausedAt = await stepOf(first);
  expect(pausedAt).toBeGreaterThan(0);
  await expect.poll(() => keptSteps(first, 'digit-training')).toBeGreaterThanOrEqual(pausedAt);
  await first.close();

  // It goes on by itself where it was left.
  const second = await context.newPage();
  await openTraining(second);
  await expect.poll(() => stepOf(second)).toBeGreaterThan(pausedAt);
  await lookAt(second, 'draw');
  await expect(second.locator('#draw-network')).toHaveValue('trained in this page');
  await second.close();
});

// Three hundred steps take one to three minutes on an adapter in software.
test('a whole training reads nearly all digits @long', async ({ page }) => {
  test.setTimeout(1_200_000);
  await openTraining(page);
  const facts = page.locator('#train-facts');
  await expect(facts).toContainText('Result', { timeout: 1_000_000 });
  const [, right = '0'] = /reads ([\d,]+) of 2,000/.exec((await facts.textContent()) ?? '') ?? [];
  expect(Number(right.replace(',', ''))).toBeGreaterThan(0.97 * 2000);

  await lookAt(page, 'draw');
  await expect(page.locator('#draw-network')).toHaveValue('trained in this page');
  await page.getByRole('button', { name: 'Write a 7' }).click();
  await expect(page.locator('#answer')).toHaveText('7');
});
