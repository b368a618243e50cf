import { findChromium } from '../scripts/find-chromium.mjs';
import { expect, test } from './fixtures.ts';

const executablePath = findChromium();

// A browser of its own, without the flag that gives an adapter.
test.use({
  launchOptions: {
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  },
});

test('without WebGPU the page says so and runs on the host device', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('alert')).toContainText('No WebGPU here');
  await expect(page.getByRole('alert')).toContainText('host device');
  await page.getByRole('button', { name: 'Write a 2' }).click();
  await expect(page.locator('#answer')).toHaveText('2');
  await expect(page.locator('[data-node="device"] [data-name]')).toHaveText('Host device');
});
