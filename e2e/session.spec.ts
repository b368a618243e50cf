import { expect, forgiveWebAssembly } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';
import { FILES, test, WEIGHT_COUNT } from './session-test.ts';

declare const weft: SessionPage;

test('loads from a URL, bytes, a Blob, a stream and a Response, in one worker', async ({
  page,
}) => {
  const sums = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const bytes = await weft.bytes('/served/sum.weft');
    const sources = [
      '/served/sum.weft',
      new URL('/served/sum.weft', location.href),
      bytes,
      bytes.buffer,
      new Blob([bytes]),
      new Blob([bytes]).stream(),
      await fetch('/served/sum.weft'),
    ];
    const sessions = await Promise.all(
      sources.map((source) => Session.load(source, { device: 'webgpu' })),
    );
    const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
    const outputs = await Promise.all(sessions.map((session) => session.run(inputs)));
    const kinds = sessions.map(({ device }) => device.kind);
    const loaded = bytes.byteLength;
    globalThis.addEventListener('weft-done', () => {
      for (const session of sessions) void session.dispose();
    });
    return { sums: outputs.map(({ sum }) => sum?.toNested()), kinds, loaded };
  });
  expect(sums.sums).toEqual(Array.from({ length: 7 }, () => [4, 6]));
  expect(new Set(sums.kinds)).toEqual(new Set(['webgpu']));
  expect(sums.loaded).toBe(FILES['sum.weft']?.length);
  expect(await page.evaluate(() => weft.liveWorkers())).toBe(1);
  await page.evaluate(() => globalThis.dispatchEvent(new Event('weft-done')));
});

test('reports progress through the phases while weights arrive', async ({ page }) => {
  const { reports, value } = await page.evaluate(async () => {
    const reports: { phase: string; loaded: number; total: number | undefined }[] = [];
    const session = await weft.Session.load('/served/weights.weft', {
      device: 'webgpu',
      onProgress: (progress) => reports.push(progress),
    });
    const count = 1_500_000;
    const x = new weft.Tensor('float32', new Float32Array(count).fill(1), [1, count]);
    const { y } = await session.run({ x });
    await session.dispose();
    return { reports, value: y?.data[1234] };
  });
  expect(value).toBe(235);
  const last = new Map(reports.map((report) => [report.phase, report]));
  expect([...last.keys()].sort()).toEqual(['compile', 'download', 'upload', 'verify']);
  for (const { loaded, total } of last.values()) expect(loaded).toBe(total);
  expect(last.get('download')?.total).toBe(FILES['weights.weft']?.length);
  expect(last.get('upload')?.total).toBe(WEIGHT_COUNT * 4);
});

test('tells .onnx from .weft and compiles it in the worker', async ({ page }) => {
  const result = await page.evaluate(async () => {
    const session = await weft.Session.load('/served/add.onnx', { device: 'webgpu' });
    const { b } = await session.run({ a: weft.Tensor.from([1, 2]) });
    const listing = await session.listing();
    await session.dispose();
    return { values: b?.toNested(), listing };
  });
  expect(result.values).toEqual([11, 22]);
  expect(result.listing).toContain('func main(a: Tensor[(2,), float32])');
});

test('compiles a model that is a Blob, with another one beside it', async ({ page }) => {
  const value = await page.evaluate(async () => {
    const [model, beside] = await Promise.all(
      ['beside.onnx', 'beside.bin'].map(async (name) => (await fetch(`/served/${name}`)).blob()),
    );
    const externalData = (name: string): Blob =>
      name === 'beside.bin' && beside ? beside : new Blob();
    const session = await weft.Session.load(model ?? '', { device: 'webgpu', externalData });
    const { b } = await session.run({ a: weft.Tensor.from([1, 2]) });
    await session.dispose();
    return b?.toNested();
  });
  expect(value).toEqual([11, 22]);
});

test('keeps a model and the file beside it, and loads them after a reload without a connection', async ({
  page,
}) => {
  const load = async (): Promise<unknown> =>
    page.evaluate(async () => {
      const session = await weft.Session.load('/served/beside.onnx', {
        device: 'host',
        cache: true,
      });
      const { b } = await session.run({ a: weft.Tensor.from([1, 2]) });
      await session.dispose();
      return b?.toNested();
    });
  expect(await load()).toEqual([11, 22]);
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  await page.unroute('**/served/*');
  await page.route('**/served/*', (route) => route.abort());
  expect(await load()).toEqual([11, 22]);
  const kept = await page.evaluate(async () => {
    const files = await weft.modelCache.list();
    await weft.modelCache.clear();
    return { files, left: await weft.modelCache.list() };
  });
  expect(kept.files.map(({ url }) => url.slice(url.lastIndexOf('/') + 1)).toSorted()).toEqual([
    'beside.bin',
    'beside.onnx',
  ]);
  expect(kept.left).toEqual([]);
});

test('says what is wrong with a file that does not come whole', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const load = (source: string) => weft.failure(weft.Session.load(source));
    const status = await weft.Session.load('/served/nothing.weft').catch((error: unknown) => error);
    return {
      missing: await load('/served/nothing.weft'),
      details:
        status !== null && typeof status === 'object' && 'details' in status && status.details,
      head: await load('/served/cut-head.weft'),
      data: await load('/served/cut-data.weft'),
      page: await load('/e2e/pages/blank.html'),
    };
  });
  const url = new URL('/served/nothing.weft', page.url()).href;
  expect(found.missing).toEqual({
    name: 'DownloadError',
    message: `${url}: got HTTP 404 Not Found, expected the bytes of a program.`,
  });
  expect(found.details).toEqual({ status: 404, url });
  expect(found.head.name).toBe('FormatError');
  expect(found.head.message).toContain('The file is truncated');
  expect(found.data.name).toBe('FormatError');
  expect(found.data.message).toContain('The file is truncated');
  expect(found.page.message).toContain('This is markup: the server answered with a page.');
});

test('names the directive where the policy forbids WebAssembly', async ({ page, watched }) => {
  const refused = await page.evaluate(() =>
    weft.failure(weft.Session.load('/served/sum.weft', { device: 'wasm' })),
  );
  expect(refused).toEqual({
    name: 'DeviceError',
    message:
      "device 'wasm': got a policy of the page that forbids to compile, expected WebAssembly with SIMD. Add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy.",
  });
  forgiveWebAssembly(watched);
});

test('runs in the page itself, on the host and on WebGPU', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
    const results = [];
    for (const [worker, device] of [
      [false, 'host'],
      [false, 'webgpu'],
      [true, 'host'],
    ] as const) {
      const session = await Session.load('/served/sum.weft', { worker, device });
      const { product } = await session.run(inputs);
      results.push([session.device.kind, product?.toNested()]);
      await session.dispose();
    }
    return results;
  });
  expect(found).toEqual([
    ['host', [3, 8]],
    ['webgpu', [3, 8]],
    ['host', [3, 8]],
  ]);
});
