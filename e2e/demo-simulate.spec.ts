import type { Page } from '@playwright/test';
import { canvasSum, keptSteps, resumedAt, stepsOf } from './demo-page.ts';
import { expect, test } from './fixtures.ts';

test.use({ isStrict: true });

test('steps on the device and paints', async ({ page }) => {
  await page.goto('/?device=webgpu');
  await page.getByRole('link', { name: 'Programs' }).focus();
  await page.keyboard.press('Enter');
  const facts = page.locator('#dish-facts');
  await page.locator('#dish-play', { hasText: 'Pause' }).click();
  await expect(facts).toContainText('Steps so far');
  await page.getByRole('button', { name: 'Reset' }).click();
  await expect(facts).toContainText('Steps so far0');
  const before = await canvasSum(page, '#dish');
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(facts).toContainText('Steps so far8');
  expect(await canvasSum(page, '#dish')).not.toBe(before);
  const row = page.locator('.kernels li', { hasText: 'diffuse_and_grow' });
  await expect(row.locator('.kernel-time')).toContainText('×8');
  await page.locator('#dish').focus();
  const stepped = await canvasSum(page, '#dish');
  await page.keyboard.press('Enter');
  await expect.poll(() => canvasSum(page, '#dish')).not.toBe(stepped);
  await expect(facts).toContainText('Steps so far8');
});

test('goes on with a simulation whose tab was closed', async ({ context }) => {
  const openDish = async (search = ''): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`/${search}#simulate`);
    return page;
  };
  const first = await openDish();
  await first.locator('#dish-steps').fill('40');
  await expect.poll(() => stepsOf(first)).toBeGreaterThan(200);
  await expect.poll(() => keptSteps(first, 'reaction-diffusion')).toBeGreaterThan(0);
  await first.close();

  // Also on another device.
  let before = 1;
  for (const search of ['', '?device=wasm', '?device=host']) {
    const page = await openDish(search);
    const at = await resumedAt(page);
    expect(at).toBeGreaterThanOrEqual(before);
    await expect.poll(() => stepsOf(page)).toBeGreaterThan(at);
    await expect(page.locator('#notice')).toBeHidden();
    before = at;
    await page.close();
  }
  const last = await openDish();
  await expect(last.locator('#dish-facts')).toContainText('Went on at');
  await last.getByRole('button', { name: 'Reset' }).click();
  await expect(last.locator('#dish-facts')).not.toContainText('Went on at');
  await last.close();
});

test('moves a running simulation to another tab, where it goes on', async ({ page, context }) => {
  await page.goto('/#simulate');
  const facts = page.locator('#dish-facts');
  await expect(facts).toContainText(/Steps so far[\d,]{3}/);
  const opening = context.waitForEvent('page');
  await page.locator('#dish-move').click();
  const other = await opening;
  await expect(facts).toContainText('The simulation continues in the other tab.');
  expect(await resumedAt(other)).toBeGreaterThan(99);
  const seen = await canvasSum(other, '#dish');
  await expect.poll(() => canvasSum(other, '#dish')).not.toBe(seen);
  expect(new URL(other.url()).search).toBe('');
  await expect(other.locator('#notice')).toBeHidden();
  // The first tab lives on: it begins anew, and leaves alone what the other one keeps.
  await page.getByRole('button', { name: 'Begin anew' }).click();
  await expect(facts).toContainText(/Steps so far[1-9]/);
  await expect(facts).not.toContainText('Went on at');
  await other.close();
});
