import type { Page } from '@playwright/test';
import { startRelay } from '../src/cli/rpc/start-relay.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  findDevice,
  HostTensor,
} from '../src/rpc/index.ts';
import { testProgram } from '../src/rpc/testing/open-connection.ts';
import { expectMachine } from './demo-page.ts';
import { expect, test } from './fixtures.ts';

// What `npm test` runs: each page of the site, and each part of the demo, shows a result of a run.

const NO_ADAPTER =
  'no WebGPU adapter in this Chromium: its folder must hold SwiftShader (libvk_swiftshader)';

test.describe.configure({ mode: 'parallel' });
test.use({ isStrict: true });

test('the demo runs a program, and each of its parts gives a result', async ({ page }) => {
  const response = await page.goto('/');
  expect(response?.status()).toBe(200);
  // The demo offers the processor beside WebGPU, fetches models whose addresses it is given, and moves what runs through relays.
  expect(await response?.headerValue('content-security-policy')).toBe(
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https: ws: wss:",
  );
  await expect(page.locator('#dish-facts')).toContainText(/Steps so far[1-9]/);
  await inspect(page);
  for (const [tab, hasResult] of Object.entries(PARTS)) {
    await test.step(tab, async () => {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await hasResult(page);
    });
  }
  await expect(page.locator('#notice')).toBeHidden();
});

async function inspect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Look inside' }).click();
  const inspector = page.getByRole('dialog', { name: 'Inspector' });
  await expect(inspector.getByRole('application', { name: /^Graph of main: \d+/ })).toBeVisible();
  await inspector.getByRole('tab', { name: 'Code' }).click();
  await expect(inspector.getByRole('option', { name: /diffuse_and_grow/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(inspector).toBeHidden();
}

/** How each part of the demo is asked for a result, by its tab. */
const PARTS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async Draw(page) {
    await page.getByRole('button', { name: 'Write a 7' }).click();
    await expect(page.locator('#answer')).toHaveText('7');
  },
  async 'Any model'(page) {
    await page.getByRole('button', { name: 'Open Sum of a list' }).click();
    await expect(page.locator('#model-answer .verdict')).toContainText('Yes, on WebGPU');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('#model-run .status')).toContainText('It took');
  },
  async 'Read text'(page) {
    await page.getByRole('button', { name: 'Read it' }).click();
    const lines = page.getByRole('list', { name: 'Lines that were read' });
    await expect(lines).toContainText('TOTAL');
    await expect(lines).toContainText('27.05');
    await expect(page.locator('#picture-panel .snippet code')).toContainText(
      "from 'weft-vm/tasks'",
    );
    await expectMachine(page, 'PP-OCRv4, lines');
  },
  async 'Hear speech'(page) {
    await page.getByRole('button', { name: 'Play the recording' }).click();
    await expect(page.locator('#voice-status')).toContainText('2 stretches of speech in 5.');
    await expect(page.locator('#voice-facts')).toContainText('Stretches of speech2');
    await expect(page.locator('#flow')).not.toContainText('Chosen with the program');
    await expect(page.getByRole('button', { name: 'Look inside' })).toBeEnabled();
  },
  async Write(page) {
    await page.locator('#story-write').click();
    await expect(page.locator('#story-facts')).toContainText('a second');
  },
  async Train(page) {
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    await expect(page.locator('#train-facts')).toContainText(/Steps[1-9]/);
  },
};

test('the playground compiles a program and runs it', async ({ page }) => {
  await page.goto('/playground.html');
  await expect(page.getByRole('status')).toHaveText('Done.');
  await expect(page.locator('#passes summary').first()).toBeVisible();
  await expect(page.locator('#bytecode')).toContainText('func main(');
  await expect(page.locator('#result')).toHaveText(/\d/);
  await expect(page.locator('#result')).not.toHaveClass(/wrong/);
});

test('the page that measures checks kernels, and stops', async ({ page }) => {
  await page.goto('/report.html');
  await page.getByLabel('a part, about a minute').check();
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText(/^\w+, \d+ of \d{3}$/)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('status')).toHaveText(/^Cancelled after .* checked is right\.$/);
  await expect(page.getByRole('cell', { name: 'software adapters' })).toBeVisible();
});

test('the page that lends a device runs what it is asked to', async ({ page }) => {
  const token = createToken();
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  try {
    const fields = { relay: relay.url, key: 'phone', token };
    await page.goto(`/rpc.html#${new URLSearchParams(fields).toString()}`);
    await page.getByRole('button', { name: 'Lend this device' }).click();
    await expect(page.getByRole('status')).toContainText(`as phone at ${relay.url}`);
    const remote = await connect(relay.url, { key: 'phone', token });
    const device = findDevice(remote, 'webgpu');
    const functions = { 'local.add': () => null };
    const module = await remote.load(testProgram(), { device, functions });
    const tensor = HostTensor.from('float32', [3], [1, 2, 3]);
    expect(await (await module.getFunction('copy'))(tensor)).toEqual(tensor);
    remote.close();
  } finally {
    await relay.close();
  }
});

test('the browser has a WebGPU adapter that computes', async ({ page }) => {
  await page.goto('/rpc.html');
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
