import type { LaunchOptions } from '@playwright/test';
import { findChromium } from '../scripts/find-chromium.mjs';
import { firefoxLaunchOptions } from '../scripts/find-firefox.mjs';
import { sumAndProduct } from '../src/worker/testing/test-programs.ts';
import { expect, forgiveWebAssembly, test } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

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

test('without WebGPU the page says so and runs in WebAssembly', async ({ page }) => {
  await page.goto('/#draw');
  await expect(page.locator('#device-switch')).toContainText(
    'Running on WebAssembly (There is no WebGPU on graphics hardware)',
  );
  await page.getByRole('button', { name: 'Write a 2' }).click();
  await expect(page.locator('#answer')).toHaveText('2');
  await expect(page.locator('#machine-facts')).toContainText('Runs onWebAssembly (CPU)');
});

test('where the policy forbids WebAssembly too, a session runs on the host', async ({
  page,
  watched,
}) => {
  await page.goto('/e2e/pages/session.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  const { kind, reason, fallbackReason } = await page.evaluate(async (bytes) => {
    const session = await weft.Session.load(new Uint8Array(bytes));
    await session.dispose();
    return session.device;
  }, Array.from(sumAndProduct().toBytes()));
  forgiveWebAssembly(watched);
  expect({ kind, reason }).toEqual({
    kind: 'host',
    reason: 'There is neither WebGPU nor WebAssembly.',
  });
  expect(fallbackReason).toMatch(/^WebGPU: got no .*Add 'wasm-unsafe-eval' to script-src/);
});
