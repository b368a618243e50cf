import { HostTensor } from '../src/core/host-tensor.ts';
import { writeOnnxModel } from '../src/testing/onnx-writer.ts';
import { expect, test } from './fixtures.ts';
import type { TasksPage } from './pages/tasks.ts';

declare const weftTasks: TasksPage;

/** Logits are ten times the mean of each channel. */
const COLOURS = writeOnnxModel({
  nodes: [
    { op: 'GlobalAveragePool', inputs: ['pixel_values'], outputs: ['means'] },
    { op: 'Flatten', inputs: ['means'], outputs: ['flat'] },
    { op: 'Mul', inputs: ['flat', 'ten'], outputs: ['logits'] },
  ],
  inputs: [{ name: 'pixel_values', dtype: 'float32', shape: ['batch', 3, 4, 4] }],
  outputs: ['logits'],
  initializers: { ten: HostTensor.from('float32', [1], [10]) },
});

test.beforeEach(async ({ page }) => {
  await page.goto('/e2e/pages/tasks.html');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
});

test('a picture in any form gives the same elements', async ({ page }) => {
  const differences = await page.evaluate(() => weftTasks.differences());
  const { VideoFrame: frame = 0, ...others } = differences;
  expect(others).toEqual({
    ImageBitmap: 0,
    OffscreenCanvas: 0,
    HTMLCanvasElement: 0,
    Blob: 0,
  });
  // A frame of a video may go through another space of colours.
  expect(frame).toBeLessThanOrEqual(1);
});

test('a model in the worker says what is on a canvas', async ({ page }) => {
  const found = await page.evaluate(
    (model) => weftTasks.classify(model, '#00ff33'),
    Array.from(COLOURS),
  );
  expect(found.map(({ label }) => label)).toEqual(['green']);
});

test('what is no picture is refused by what it is', async ({ page }) => {
  expect(await page.evaluate(() => weftTasks.failure('image'))).toBe(
    'UsageError: picture: got a picture of 0 x 0, expected one with pixels. Wait until the image or video has loaded.',
  );
  expect(await page.evaluate(() => weftTasks.failure('file'))).toBe(
    'UsageError: picture: got a file of 10 bytes of the type "", expected a picture that this browser reads.',
  );
  expect(await page.evaluate(() => weftTasks.failure('text'))).toMatch(
    /^UsageError: picture: got String, expected an ImageBitmap, a VideoFrame, /,
  );
});
