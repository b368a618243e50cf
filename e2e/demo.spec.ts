import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { AXE, canvasSum, expectAccessible } from './demo-page.ts';
import { expect, test } from './fixtures.ts';

test.use({ isStrict: true });

/** Opens the page; the addresses of all that it and its workers fetch until the program has made steps. */
async function addressesUntilSteps(page: Page): Promise<string[]> {
  const requested = new Set<string>();
  page.context().on('request', (request) => requested.add(request.url()));
  let until: string[] = [];
  // What the page fetches later, when it keeps what it made, does not count, however busy the machine is.
  await page.exposeFunction('reportSteps', () => (until = [...requested]));
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const facts = document.getElementById('dish-facts')?.textContent ?? '';
      if (!/Steps so far[1-9]/.test(facts)) return;
      observer.disconnect();
      const report: unknown = Reflect.get(globalThis, 'reportSteps');
      if (typeof report === 'function') void report();
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  await page.goto('/');
  await expect.poll(() => until.length).toBeGreaterThan(0);
  return until;
}

test('a program runs before anybody touches the page, of less than 200 KB', async ({
  page,
  request,
}) => {
  const addresses = await addressesUntilSteps(page);
  const sizes = await Promise.all(
    addresses.map(async (address) => gzipSync(await (await request.get(address)).body()).length),
  );
  // The program, the code of the worker and that of its device must be among them.
  for (const part of ['reaction-diffusion.weft', 'worker-main', 'open-webgpu']) {
    expect(addresses.join('\n')).toContain(part);
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total, addresses.join('\n')).toBeLessThan(200 * 1024);
  const seen = await canvasSum(page, '#dish');
  await expect.poll(() => canvasSum(page, '#dish')).not.toBe(seen);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nothing is wrong with any section for axe-core, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto('/');
    await page.evaluate(AXE);
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      const panel = (await tab.getAttribute('aria-controls')) ?? '';
      await expect(page.locator(`#${panel}`)).toBeVisible();
      await expectAccessible(page, panel);
    }
  });
}
