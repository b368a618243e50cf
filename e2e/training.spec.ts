import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

test('trains the digit network, goes on in another tab, and reads with it', async ({ context }) => {
  test.setTimeout(480_000);
  const openTraining = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto('/#train');
    await expect(page.locator('#train-facts')).toContainText('Steps');
    return page;
  };
  const stepOf = async (page: Page): Promise<number> => {
    const text = (await page.locator('#train-facts').textContent()) ?? '';
    return Number(/Steps(\d+) of/.exec(text)?.[1] ?? 0);
  };
  const first = await openTraining();
  await first.getByRole('button', { name: 'Train' }).click();
  await expect.poll(() => stepOf(first), { timeout: 120_000 }).toBeGreaterThan(20);
  await expect(first.locator('#train-plots polyline').first()).toHaveAttribute('points', /,.* .*,/);
  await first.getByRole('button', { name: 'Pause' }).click();
  // A second is enough for a checkpoint.
  await first.waitForTimeout(2500);
  const pausedAt = await stepOf(first);
  await first.close();

  const second = await openTraining();
  await expect.poll(() => stepOf(second)).toBe(pausedAt);
  await second.getByRole('button', { name: 'Go on' }).click();
  const facts = second.locator('#train-facts');
  await expect(facts).toContainText('Result', { timeout: 400_000 });
  const [, right = '0'] = /reads ([\d,]+) of 2,000/.exec((await facts.textContent()) ?? '') ?? [];
  expect(Number(right.replace(',', ''))).toBeGreaterThan(0.97 * 2000);

  await second.getByRole('tab', { name: 'Draw' }).click();
  await expect(second.locator('#draw-network')).toHaveValue('trained in this page');
  await second.getByRole('button', { name: 'Write a 7' }).click();
  await expect(second.locator('#answer')).toHaveText('7');
  await second.close();
});
