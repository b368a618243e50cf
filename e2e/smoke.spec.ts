import { expect, test } from './fixtures.ts';

const NO_ADAPTER =
  'no WebGPU adapter in this Chromium: its folder must hold SwiftShader (libvk_swiftshader)';

test('the browser has a WebGPU adapter that computes', async ({ page }) => {
  await page.goto('/e2e/pages/blank.html');
  const adapter = await page.evaluate(async () => {
    const found = await navigator.gpu?.requestAdapter();
    if (!found) return undefined;
    const device = await found.requestDevice();
    const buffer = device.createBuffer({ size: 4, usage: 0x0009, mappedAtCreation: false });
    device.queue.writeBuffer(buffer, 0, Uint32Array.of(42));
    await buffer.mapAsync(0x0001);
    const value = new Uint32Array(buffer.getMappedRange())[0];
    return { vendor: found.info.vendor, architecture: found.info.architecture, value };
  });
  expect(adapter, NO_ADAPTER).toBeDefined();
  expect(adapter?.value).toBe(42);
});

test('the page is served under a strict policy', async ({ page }) => {
  const response = await page.goto('/');
  expect(response?.status()).toBe(200);
  // The demo offers the processor beside WebGPU, fetches models whose addresses it is given, and moves what runs through relays.
  expect(await response?.headerValue('content-security-policy')).toBe(
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https: ws: wss:",
  );
});
