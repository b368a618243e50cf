import type { Page } from '@playwright/test';
import { writeOnnxModel } from '../src/testing/onnx-writer.ts';
import { expect, test } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

const MODEL = Buffer.from(
  writeOnnxModel({
    nodes: [{ op: 'MatMul', inputs: ['a', 'b'], outputs: ['c'] }],
    inputs: [
      { name: 'a', shape: [17, 64] },
      { name: 'b', shape: [64, 64] },
    ],
    outputs: ['c'],
  }),
);

async function open(page: Page): Promise<void> {
  await page.goto('/e2e/pages/session.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
}

async function requested(page: Page, name: RegExp, work: () => Promise<void>): Promise<boolean> {
  let isRequested = false;
  const note = (request: { url(): string }): void => {
    isRequested ||= name.test(request.url());
  };
  page.context().on('request', note);
  await work();
  page.context().off('request', note);
  return isRequested;
}

test('choices are stored, found by the next visit, and asked for by nobody who never tuned', async ({
  page,
}) => {
  await page.route('**/served/*', (route) => route.fulfill({ body: MODEL }));
  const run = (isTuning: boolean) =>
    page.evaluate(async (isTuning) => {
      const session = await weft.Session.load('/served/product.onnx', { device: 'webgpu' });
      const report = isTuning ? await session.tune() : undefined;
      const a = new weft.Tensor('float32', new Float32Array(17 * 64).fill(0.5), [17, 64]);
      const b = new weft.Tensor('float32', new Float32Array(64 * 64).fill(0.25), [64, 64]);
      const [result] = Object.values(await session.run({ a, b }));
      await session.dispose();
      const elements = [...new Set(Array.from(result?.data ?? [], Number))];
      return { elements, kernels: report?.kernels.length, isStored: report?.isStored };
    }, isTuning);
  await open(page);
  const untuned = await requested(page, /choice-store/, async () => {
    expect((await run(false)).elements).toEqual([8]);
  });
  expect(untuned).toBe(false);
  expect(await run(true)).toEqual({ elements: [8], kernels: 1, isStored: true });
  await open(page);
  const tuned = await requested(page, /choice-store/, async () => {
    expect((await run(false)).elements).toEqual([8]);
  });
  expect(tuned).toBe(true);
});
