import { COLOURS } from '../src/tasks/testing/colours-model.ts';
import { expect, testOfPage as test } from './fixtures.ts';
import type { OwnDevicePage } from './pages/own-device.ts';

declare const weftOwnDevice: OwnDevicePage;

const MODEL = [...COLOURS];

test.use({ address: '/e2e/pages/own-device.html' });

test('textures of the page have the elements of the same picture', async ({ page }) => {
  const all = await page.evaluate((model) => weftOwnDevice.textures(model), MODEL);
  expect(all).toEqual({
    rgba8unorm: 0,
    'rgba8unorm-srgb': 0,
    bgra8unorm: 0,
    'bgra8unorm-srgb': 0,
    rgba16float: 0,
  });
  const [texture, picture] = await page.evaluate((model) => weftOwnDevice.classify(model), MODEL);
  expect(texture).toHaveLength(3);
  expect(texture).toEqual(picture);
});

test('buffers of the page are inputs, and results lie in buffers of its device', async ({
  page,
}) => {
  const { found, expected } = await page.evaluate((model) => weftOwnDevice.buffers(model), MODEL);
  expect(found).toHaveLength(51);
  expect(found).toEqual(expected);
});

test('what is of another device is refused', async ({ page }) => {
  const [texture, buffer, inWorker, bufferInWorker, load] = await page.evaluate(
    (model) => weftOwnDevice.refusals(model),
    MODEL,
  );
  expect(texture).toContain('UsageError: GPUTexture: got a texture of another device (');
  expect(buffer).toContain('UsageError: fromGpuBuffer: got a buffer of another device (');
  expect(inWorker).toContain(
    'UnsupportedError: Session: got a GPUTexture, which no browser lets go to another thread',
  );
  expect(bufferInWorker).toContain(
    'UnsupportedError: Session: got a GPUBuffer, which no browser lets go to another thread',
  );
  expect(load).toContain('UsageError: Session.load: got a GPUDevice as gpu with a worker');
});
