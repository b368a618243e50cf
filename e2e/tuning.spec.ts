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
  const run = (tuning: 'no' | 'now' | 'idle') =>
    page.evaluate(async (tuning) => {
      const session = await weft.Session.load('/served/product.onnx', { device: 'webgpu' });
      const idle = tuning === 'idle';
      const report = tuning === 'no' ? undefined : await session.tune({ idle });
      const a = new weft.Tensor('float32', new Float32Array(17 * 64).fill(0.5), [17, 64]);
      const b = new weft.Tensor('float32', new Float32Array(64 * 64).fill(0.25), [64, 64]);
      const [result] = Object.values(await session.run({ a, b }));
      await session.dispose();
      const elements = [...new Set(Array.from(result?.data ?? [], Number))];
      return { elements, kernels: report?.kernels.length, isStored: report?.isStored };
    }, tuning);
  await open(page);
  const untuned = await requested(page, /choice-store/, async () => {
    expect((await run('no')).elements).toEqual([8]);
  });
  expect(untuned).toBe(false);
  expect(await run('idle')).toEqual({ elements: [8], kernels: 1, isStored: true });
  await open(page);
  const tuned = await requested(page, /choice-store/, async () => {
    expect((await run('no')).elements).toEqual([8]);
  });
  expect(tuned).toBe(true);
  // In idle moments nothing is measured twice, on request it is.
  expect(await run('idle')).toEqual({ elements: [8], kernels: 0, isStored: false });
  expect(await run('now')).toEqual({ elements: [8], kernels: 1, isStored: true });
});

test('what a store holds that nobody could have put there changes nothing', async ({ page }) => {
  await page.route('**/served/*', (route) => route.fulfill({ body: MODEL }));
  await open(page);
  const elements = await page.evaluate(async () => {
    const run = async () => {
      const session = await weft.Session.load('/served/product.onnx', { device: 'webgpu' });
      const report = await session.tune();
      const a = new weft.Tensor('float32', new Float32Array(17 * 64).fill(0.5), [17, 64]);
      const b = new weft.Tensor('float32', new Float32Array(64 * 64).fill(0.25), [64, 64]);
      const [result] = Object.values(await session.run({ a, b }));
      await session.dispose();
      return [...new Set(Array.from(result?.data ?? [], Number)), Number(report.isStored)];
    };
    const settled = (request: IDBRequest) =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error));
      });
    const first = await run();
    const opening = indexedDB.open('weft-tuning', 1);
    await settled(opening);
    const store = opening.result.transaction('choices', 'readwrite').objectStore('choices');
    const keys = (await settled(store.getAllKeys())) as IDBValidKey[];
    const known = (await settled(store.get(keys[0] ?? ''))) as { plan: string }[];
    const wrong = known.map(({ plan }) => ({ plan, chosen: 'x', choices: { place: 'name' } }));
    await settled(store.put([null, 7, { plan: 1 }, ...wrong], keys[0] ?? ''));
    opening.result.close();
    return [keys.length, known.length, ...first, ...(await run())];
  });
  expect(elements).toEqual([1, 1, 8, 1, 8, 1]);
});
