import type { Page } from '@playwright/test';
import type { SessionDevice } from '../src/client/index.ts';
import { negateDoubles, sumAndProduct } from '../src/worker/testing/test-programs.ts';
import { expect, forgiveWebAssembly, test } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

const PROGRAM = Array.from(sumAndProduct().toBytes());
const DOUBLES = Array.from(negateDoubles().toBytes());

test.describe('on an adapter in software', () => {
  const cases = [
    {
      page: 'wasm',
      kind: 'wasm',
      reason: 'There is no WebGPU on graphics hardware.',
      fallbackReason: expect.stringMatching(
        /^device 'auto': got WebGPU on .*, a software adapter,/,
      ),
    },
    {
      page: 'session',
      kind: 'webgpu',
      reason: 'There is neither WebGPU on graphics hardware nor WebAssembly.',
      fallbackReason:
        "device 'wasm': got a policy of the page that forbids to compile, expected WebAssembly with SIMD. Add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy.",
    },
  ];
  for (const { page: name, ...expected } of cases) {
    test(`takes ${expected.kind} in ${name}.html`, async ({ page, watched }) => {
      await page.goto(`/e2e/pages/${name}.html`);
      await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
      const found = await page.evaluate(async (bytes) => {
        const { Session, Tensor } = weft;
        const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
        const devices: SessionDevice[] = [];
        const products: unknown[] = [];
        for (const worker of [true, true, false]) {
          const session = await Session.load(new Uint8Array(bytes), { worker });
          devices.push(session.device);
          products.push((await session.run(inputs))['product']?.toNested());
          await session.dispose();
        }
        return { devices, products };
      }, PROGRAM);
      forgiveWebAssembly(watched);
      for (const device of found.devices) expect(device).toMatchObject(expected);
      expect(found.products).toEqual([
        [3, 8],
        [3, 8],
        [3, 8],
      ]);
    });
  }
});

test('takes the device that is asked for, whatever would be faster', async ({ page }) => {
  await page.goto('/e2e/pages/wasm.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  const found = await page.evaluate(async (bytes) => {
    const kinds: string[][] = [];
    for (const device of ['webgpu', 'wasm', 'host'] as const) {
      const session = await weft.Session.load(new Uint8Array(bytes), { device });
      const { kind, reason } = session.device;
      kinds.push([kind, reason]);
      await session.dispose();
    }
    return kinds;
  }, PROGRAM);
  expect(found).toEqual([
    ['webgpu', "The session requested 'webgpu'."],
    ['wasm', "The session requested 'wasm'."],
    ['host', "The session requested 'host'."],
  ]);
});

test('a session on WebAssembly fetches no WebGPU device', async ({ page }) => {
  const fetched: string[] = [];
  page.context().on('request', (request) => {
    const file = /\/assets\/(webgpu|wasm)-[\w-]{8}\.js$/.exec(request.url());
    if (file?.[1] !== undefined) fetched.push(file[1]);
  });
  await page.goto('/e2e/pages/wasm.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  await page.evaluate(async (bytes) => {
    const session = await weft.Session.load(new Uint8Array(bytes), { device: 'wasm' });
    await session.run({ x: weft.Tensor.from([1, 2]), y: weft.Tensor.from([3, 4]) });
  }, PROGRAM);
  expect(fetched).toEqual(['wasm']);
});

test.describe('beside WebGPU', () => {
  /** Loads a program in a worker and in the page; where its parts are that WebGPU cannot run. */
  const placesOf = (page: Page, program: readonly number[]) =>
    page.evaluate(async (bytes) => {
      const places: string[][] = [];
      for (const worker of [true, false]) {
        const source = new Uint8Array(bytes);
        const session = await weft.Session.load(source, { worker, device: 'webgpu' });
        places.push(session.placements.map(({ device }) => device));
        await session.dispose();
      }
      return places;
    }, program);

  test('WebAssembly is fetched for what WebGPU cannot run, and for nothing else', async ({
    page,
  }) => {
    const fetched: string[] = [];
    page.context().on('request', (request) => {
      if (/\/assets\/(open-wasm|wasm-device|wasm)-[\w-]{8}\.js$/.test(request.url()))
        fetched.push(request.url());
    });
    await page.goto('/e2e/pages/wasm.html');
    await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
    expect(await placesOf(page, PROGRAM)).toEqual([[], []]);
    expect(fetched).toEqual([]);
    expect(await placesOf(page, DOUBLES)).toEqual([['wasm'], ['wasm']]);
    expect(fetched).not.toEqual([]);
  });

  test('it is on the host where the policy forbids WebAssembly', async ({ page, watched }) => {
    await page.goto('/e2e/pages/session.html');
    await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
    expect(await placesOf(page, DOUBLES)).toEqual([['host'], ['host']]);
    forgiveWebAssembly(watched);
  });
});

test.describe('on an adapter that says it is hardware', () => {
  /** Loads, runs some times, and tells the device and the last result. The session stays. */
  const visit = (page: Page, runs: number) =>
    page.evaluate(
      async ([bytes, count]) => {
        const { Session, Tensor, startForcedWorker } = weft;
        const session = await Session.load(new Uint8Array(bytes), { worker: startForcedWorker });
        const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
        let product: unknown;
        for (let i = 0; i < count; i++)
          product = (await session.run(inputs))['product']?.toNested();
        return { device: session.device, product };
      },
      [PROGRAM, runs] as const,
    );

  const findings = (page: Page) =>
    page.evaluate(async () => {
      const known = await indexedDB.databases();
      if (!known.some(({ name }) => name === 'weft-tuning')) return { keys: [], values: [] };
      const request = indexedDB.open('weft-tuning', 1);
      await new Promise((resolve) => request.addEventListener('success', resolve));
      const store = request.result.transaction('choices').objectStore('choices');
      const [keys, values] = [store.getAllKeys(), store.getAll()];
      await new Promise((resolve) => values.addEventListener('success', resolve));
      request.result.close();
      return { keys: keys.result.map(String), values: values.result as unknown[] };
    });

  /** Stores a finding as an earlier visit would have left it. */
  const pretend = (page: Page, key: string, value: unknown) =>
    page.evaluate(
      async ([name, stored]) => {
        const request = indexedDB.open('weft-tuning', 1);
        await new Promise((resolve) => request.addEventListener('success', resolve));
        const transaction = request.result.transaction('choices', 'readwrite');
        transaction.objectStore('choices').put(stored, name);
        await new Promise((resolve) => transaction.addEventListener('complete', resolve));
        request.result.close();
      },
      [key, value] as const,
    );

  test('a small program runs in WebAssembly; near estimates are measured and remembered', async ({
    page,
  }) => {
    const open = async (): Promise<void> => {
      await page.goto('/e2e/pages/wasm.html');
      await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
    };
    await open();
    const first = await visit(page, 3);
    expect(first.product).toEqual([3, 8]);
    expect(first.device).toMatchObject({
      kind: 'wasm',
      reason: expect.stringMatching(/^By an estimate, a run takes .* on nvidia forced and /),
    });
    await expect
      .poll(async () => (await findings(page)).values)
      .toMatchObject([{ wasm: { roundTripMs: expect.any(Number) } }]);
    const measured = await findings(page);

    // Both the same: an estimate cannot tell.
    const rates = { roundTripMs: 1, launchMs: 1, operationsPerMs: 1e6, bytesPerMs: 1e6 };
    await pretend(page, measured.keys[0] ?? '', { gpu: rates, wasm: rates, programs: [] });
    await open();
    const near = await visit(page, 3);
    expect(near.device.reason).toMatch(/^By an estimate/);
    const times = { webgpu: expect.any(Number), wasm: expect.any(Number) };
    await expect
      .poll(async () => (await findings(page)).values)
      .toMatchObject([{ programs: [{ times }] }]);
    await open();
    const last = await visit(page, 1);
    expect(last.product).toEqual([3, 8]);
    expect(last.device.reason).toMatch(/^As measured, a run takes .* on nvidia forced and /);
  });
});
