import type { LaunchOptions } from '@playwright/test';
import { findChromium } from '../scripts/find-chromium.mjs';
import { firefoxLaunchOptions } from '../scripts/find-firefox.mjs';
import { expect, test } from './fixtures.ts';

const executablePath = findChromium();

/** Browsers of their own: Chromium without the flag that gives an adapter, Firefox without WebGPU. */
const LAUNCHES: Readonly<Record<string, () => LaunchOptions>> = {
  chromium: () => ({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  }),
  firefox: () => {
    const options = firefoxLaunchOptions();
    const firefoxUserPrefs = { ...options.firefoxUserPrefs, 'dom.webgpu.enabled': false };
    return { ...options, firefoxUserPrefs };
  },
};

test.use({
  launchOptions: [
    async ({ browserName }, use) => use(LAUNCHES[browserName]?.() ?? {}),
    { scope: 'worker' },
  ],
});

test('without WebGPU the page says so and runs on the host device', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('alert')).toContainText('No WebGPU here');
  await expect(page.getByRole('alert')).toContainText('host device');
  await page.getByRole('button', { name: 'Write a 2' }).click();
  await expect(page.locator('#answer')).toHaveText('2');
  await expect(page.locator('[data-node="device"] [data-name]')).toHaveText('Host device');
});
