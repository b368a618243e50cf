import type { Page } from '@playwright/test';
import type { Point } from '../src/demo/digits/rasterize-drawing.ts';
import { neatDigit } from '../src/demo/digits/write-digit.ts';
import { canvasSum, drawWithMouse, passFrames } from './demo-page.ts';
import { expect, test, testOnOnePage } from './fixtures.ts';

test.use({ isStrict: true });

/** Opens the page and waits until the digit network reads what the pen writes by itself. */
async function openPage(page: Page, search = ''): Promise<void> {
  await page.goto(`/${search}#draw`);
  await expectReading(page);
}

async function expectReading(page: Page): Promise<void> {
  await expect(page.locator('#answer-text')).toContainText('Looks like a');
  await expect(page.locator('#device-switch')).toContainText('Running on');
}

/** Takes away what the test before left on the pad. */
async function clearPad(page: Page): Promise<void> {
  await expect(page.locator('#answer-text')).not.toContainText('Loading');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(page.locator('#answer')).toHaveText('–');
}

test.describe('one page', () => {
  testOnOnePage.use({ address: '/?device=webgpu#draw', isStrict: true });

  testOnOnePage('writes by itself until it is stopped', async ({ page }) => {
    await expectReading(page);
    const seen = await canvasSum(page, '#pad');
    await expect.poll(() => canvasSum(page, '#pad')).not.toBe(seen);
    await page.getByRole('button', { name: 'Stop the pen' }).click();
    const stopped = await canvasSum(page, '#pad');
    await passFrames(page, 20);
    expect(await canvasSum(page, '#pad')).toBe(stopped);
  });

  testOnOnePage('names digits that are drawn with the mouse', async ({ page }) => {
    await clearPad(page);
    // All ten are read in digits-model.test.ts.
    for (const digit of [1, 4, 8]) {
      await drawWithMouse(page, neatDigit(digit));
      await expect(page.locator('#answer'), `a drawn ${digit}`).toHaveText(String(digit));
      await expect(page.locator('.bar[data-best]')).toHaveText(new RegExp(`^${digit}`));
      await page.getByRole('button', { name: 'Clear' }).click();
      await expect(page.locator('#answer')).toHaveText('–');
    }
  });

  testOnOnePage('shows what the machine did', async ({ page }) => {
    await page.getByRole('button', { name: 'Write a 3' }).click();
    const machine = page.getByRole('group', { name: 'What runs where' });
    await machine.getByText('What runs where').click();
    await expect(machine.getByRole('list', { name: 'Kernels' }).first()).toContainText('conv2d');
    await expect(machine).toContainText('Memory');
    await machine.getByText('Bytecode', { exact: true }).click();
    await expect(machine.locator('.listing')).toContainText('func main(image');
    await expect(machine.locator('.listing')).not.toContainText('call vm.builtin.kill');
    const facts = page.locator('#machine-facts');
    await expect(facts).toContainText(/Last run\d+ instructions, \d+ kernels/);
    await expect(facts).toContainText('Runs onWebGPU: ');
  });

  testOnOnePage('works by keyboard and speaks', async ({ page }) => {
    await clearPad(page);
    await page.locator('#pad').focus();
    await page.keyboard.press('Space');
    for (let i = 0; i < 11; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await expect(page.locator('#answer')).toHaveText('1');
    await expect(page.locator('#live[role="status"]')).toContainText('Looks like a 1');
    await page.keyboard.press('Escape');
    await expect(page.locator('#answer')).toHaveText('–');
  });

  testOnOnePage('takes back a stroke', async ({ page }) => {
    await clearPad(page);
    const one: Point[] = [
      { x: 50, y: 0 },
      { x: 50, y: 100 },
    ];
    await drawWithMouse(page, [one]);
    await expect(page.locator('#answer')).toHaveText('1');
    const before = await canvasSum(page, '#preview');
    await drawWithMouse(page, [one.map(({ x, y }) => ({ x: x + 40, y }))]);
    await expect.poll(() => canvasSum(page, '#preview')).not.toBe(before);
    await page.getByRole('button', { name: 'Undo stroke' }).click();
    await expect.poll(() => canvasSum(page, '#preview')).toBe(before);
  });

  testOnOnePage('fits a phone', async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Write a 4' }).click();
    await expect(page.locator('#machine')).toContainText('softmax');
    await page
      .locator('#machine-bytecode')
      .evaluate((details) => ((details as HTMLDetailsElement).open = true));
    await expect(page.locator('#machine-listing')).toContainText('func main(image');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
  });

  testOnOnePage('keeps everything in its card, whatever the width', async ({ page }) => {
    for (const width of [400, 730, 941, 1081, 1100, 1280, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      const outside = await page.locator('#draw').evaluate((card) => {
        const { right } = card.getBoundingClientRect();
        const inside = [...card.querySelectorAll('*')];
        return inside.filter((element) => element.getBoundingClientRect().right > right + 1).length;
      });
      expect(outside, `at ${width} pixels`).toBe(0);
    }
  });
});

test('shows a digit that is written already to those who want no motion', async ({ page }) => {
  // The driver of Firefox emulates no such wish.
  await page.addInitScript(() => {
    const ask = globalThis.matchMedia.bind(globalThis);
    globalThis.matchMedia = (query) =>
      ask(query.includes('prefers-reduced-motion') ? 'all' : query);
  });
  await openPage(page);
  const seen = await canvasSum(page, '#pad');
  await passFrames(page, 30);
  expect(await canvasSum(page, '#pad')).toBe(seen);
  await expect(page.getByRole('button', { name: 'Write by itself' })).toBeVisible();
});

test('runs on the host device when the address asks for it', async ({ page }) => {
  await openPage(page, '?device=host');
  await page.getByRole('button', { name: 'Write a 7' }).click();
  await expect(page.locator('#answer')).toHaveText('7');
  await expect(page.locator('#machine-facts')).toContainText('Runs onHost device (CPU)');
  await expect(page.locator('#notice')).toBeHidden();
});

test('runs in WebAssembly when the address asks for it', async ({ page }) => {
  await openPage(page, '?device=wasm');
  await page.getByRole('button', { name: 'Write a 7' }).click();
  await expect(page.locator('#answer')).toHaveText('7');
  await expect(page.locator('#machine-facts')).toContainText('Runs onWebAssembly (CPU)');
  await expect(page.locator('#notice')).toBeHidden();
});
