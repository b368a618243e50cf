import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { HostTensor } from '../src/core/host-tensor.ts';
import { LOOP_PLACE, throwsDice } from '../src/runtime/testing/long-programs.ts';
import { HOSTILE_MODELS } from '../src/testing/hostile-models.ts';
import { ownModel } from '../src/frontend/onnx/testing/own-model.ts';
import { writeOnnxModel } from '../src/testing/onnx-writer.ts';
import { otherDomainModel } from '../src/testing/other-domain-model.ts';
import {
  addWeights,
  callsPacked,
  countingLoop,
  sumAndProduct,
} from '../src/worker/testing/test-programs.ts';
import { expect, forgiveWebAssembly, test } from './fixtures.ts';
import type { LoadOptions, ProgramFunction } from '../src/client/index.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

const WEIGHT_COUNT = 1_500_000;

const sum = Buffer.from(sumAndProduct().toBytes());
const weights = Buffer.from(addWeights(WEIGHT_COUNT).toBytes());
function hostile(title: string): Buffer {
  const model = HOSTILE_MODELS.find((candidate) => candidate.title === title);
  if (model === undefined) throw new Error(`there is no hostile model "${title}"`);
  return Buffer.from(model.bytes());
}

const FILES: Readonly<Record<string, Buffer>> = {
  'sum.weft': sum,
  'weights.weft': weights,
  'cut-head.weft': sum.subarray(0, 400),
  'cut-data.weft': weights.subarray(0, weights.length - 1000),
  'loop.weft': Buffer.from(countingLoop().toBytes()),
  'twice.weft': Buffer.from(callsPacked('test.twice').toBytes()),
  'half.weft': Buffer.from(callsPacked('test.half').toBytes()),
  'dice.weft': Buffer.from(throwsDice().toBytes()),
  'close.weft': Buffer.from(callsPacked('test.close').toBytes()),
  'add.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Add', inputs: ['a', 'c'], outputs: ['b'] }],
      inputs: [{ name: 'a', shape: [2] }],
      outputs: ['b'],
      initializers: { c: HostTensor.from('float32', [2], [10, 20]) },
    }),
  ),
  'beside.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Add', inputs: ['a', 'c'], outputs: ['b'] }],
      inputs: [{ name: 'a', shape: [2] }],
      outputs: ['b'],
      externalInitializers: {
        c: { dtype: 'float32', shape: [2], place: { location: 'beside.bin', offset: '0' } },
      },
    }),
  ),
  'beside.bin': Buffer.from(Float32Array.of(10, 20).buffer),
  'one.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: [1] }],
      outputs: ['y'],
    }),
  ),
  'functions.onnx': hostile('functions that double 30 times'),
  'branches.onnx': hostile('functions that double inside an If'),
  'decay.onnx': Buffer.from(ownModel('Decay')),
  'grey.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['picture'], outputs: ['same'] }],
      inputs: [{ name: 'picture', shape: [1, 2, 2, 1] }],
      outputs: ['same'],
    }),
  ),
  'picture.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['picture'], outputs: ['same'] }],
      inputs: [{ name: 'picture', shape: [1, 3, 2, 2] }],
      outputs: ['same'],
    }),
  ),
};

/** Elements from 0 to 1 as 8-bit colours. */
function toBytes(numbers: readonly number[]): number[] {
  return numbers.map((value) => Math.round(value * 255));
}

async function serveFiles(page: Page): Promise<void> {
  await page.route('**/served/*', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
    const body = FILES[name];
    if (body === undefined) return route.fulfill({ status: 404, body: 'not here' });
    // Of answers without a version nothing is kept.
    const headers = { etag: `"${name}"` };
    return route.fulfill({ body, headers, contentType: 'application/octet-stream' });
  });
}

test.beforeEach(async ({ page }) => {
  await serveFiles(page);
  await page.goto('/e2e/pages/session.html');
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
});

test.afterEach(async ({ page }) => {
  // The last session that goes takes the worker with it.
  await expect.poll(() => page.workers().length).toBe(0);
});

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
  expect(sums.loaded).toBe(sum.length);
  expect(page.workers()).toHaveLength(1);
  await page.evaluate(() => globalThis.dispatchEvent(new Event('weft-done')));
});

const SAMPLES = `
  extern def @sample(%logits: Tensor[(n,), float32], %seen: List[int]) -> (int, List[int])
  def @main(%x: Tensor[(n,), float32], %seen: List[int]) {
    let %drawn = @sample(mul(%x, 2f), %seen);
    (%drawn.0, %drawn.1, gather(%x, tensor_of(%drawn.0, dtype="int64"), axis=0))
  }`;

test('programs in the worker call functions of the page', async ({ page }) => {
  const found = await page.evaluate(async (text) => {
    const { Session, Tensor } = weft;
    const bytes = await weft.compile(text);
    const errors: string[] = [];
    const nil = { constructor: 'Nil', fields: [] };
    const inputs = { x: Tensor.from([3, 7, 5]), seen: { constructor: 'Cons', fields: [4, nil] } };
    const session = await Session.load(bytes.slice(), {
      device: 'webgpu',
      functions: {
        sample: (logits, seen) => {
          if (!(logits instanceof Tensor)) throw new TypeError('no tensor');
          const numbers = Array.from(logits.data, Number);
          const best = numbers.indexOf(Math.max(...numbers));
          return [best, { constructor: 'Cons', fields: [best, seen as never] }];
        },
      },
    });
    const { result0, result1, result2 } = await session.run<never>(inputs);
    await session.dispose();
    const broken = await Session.load(bytes.slice(), {
      device: 'webgpu',
      functions: {
        sample: () => {
          throw new RangeError('nothing to sample');
        },
      },
    });
    errors.push((await weft.failure(broken.run(inputs))).message);
    await broken.dispose();
    errors.push((await weft.failure(Session.load(bytes.slice()))).message);
    const picked = (result2 as unknown as { data: Float32Array }).data;
    return { token: result0, list: result1, picked: [...picked], errors };
  }, SAMPLES);
  expect(found.token).toBe(1);
  expect(found.list).toEqual({
    constructor: 'Cons',
    fields: [1, { constructor: 'Cons', fields: [4, { constructor: 'Nil', fields: [] }] }],
  });
  expect(found.picked).toEqual([7]);
  expect(found.errors[0]).toContain('nothing to sample');
  expect(found.errors[1]).toContain('no definition of sample (packed)');
  expect(page.workers().length).toBeLessThanOrEqual(1);
});

test('functions go through the worker in both directions', async ({ page }) => {
  const found = await page.evaluate(async (text) => {
    const { Session, Tensor } = weft;
    const session = await Session.load(await weft.compile(text), { device: 'webgpu' });
    const scaled = (x: unknown) => {
      const data = x instanceof Tensor ? Array.from(x.data, Number) : [];
      return Tensor.from(data.map((value) => value * 2));
    };
    const { result } = await session.run<ProgramFunction>({ f: scaled, by: Tensor.from([1, 10]) });
    if (result === undefined) throw new Error('no function');
    const value = await result(Tensor.from([1, 2]));
    const held = (await session.memory()).functions;
    result.dispose();
    const { functions: left } = await session.memory();
    const late = await weft.failure(result(Tensor.from([1, 2])));
    await session.dispose();
    return {
      numbers: value instanceof Tensor ? Array.from(value.data, Number) : [],
      held,
      left,
      late,
    };
  }, 'def @main(%f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], %by: Tensor[(n,), float32]) { fn (%x: Tensor[(n,), float32]) { mul(%f(%x), %by) } }');
  expect(found.numbers).toEqual([2, 40]);
  expect([found.held, found.left]).toEqual([1, 0]);
  expect(found.late.message).toContain('disposed of');
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
  expect(last.get('download')?.total).toBe(weights.length);
  expect(last.get('upload')?.total).toBe(WEIGHT_COUNT * 4);
});

test.describe('beside a thread that compiles', () => {
  // A worker of Firefox that starts another one sometimes waits for ever inside of the browser, one
  // time in some twenty on a busy machine while WebDriver watches: docs/engines.md.
  test.describe.configure({ retries: 2 });

  test('nodes of other domains in the worker call functions of the page, which tell their types', async ({
    page,
  }) => {
    const found = await page.evaluate(async (bytes) => {
      const { Session, Tensor } = weft;
      const asked: string[] = [];
      const functions: LoadOptions['functions'] = {
        'my.domain::Op': {
          type: ({ operator, inputs }) => {
            asked.push(operator);
            return { dtype: 'float32', shape: inputs[0]?.shape ?? [] };
          },
          run: ([x], { by }) => {
            const data = x ? Array.from(x.data, Number) : [];
            return Tensor.from(data.map((value) => value * Number(by)));
          },
        },
      };
      const results: number[][] = [];
      // Of these, the second compiles in a thread of its own.
      for (const options of [{}, { compileLimits: { nodes: 1e6 } }]) {
        const source = Uint8Array.from(bytes);
        const session = await Session.load(source, { device: 'webgpu', functions, ...options });
        const { y } = await session.run({ x: Tensor.from([1, -2, 3]) });
        results.push(y ? Array.from(y.data, Number) : []);
        await session.dispose();
      }
      const missing = await weft.failure(Session.load(Uint8Array.from(bytes)));
      return { asked, results, missing };
    }, Array.from(otherDomainModel()));
    expect(found.asked).toEqual(['my.domain::Op', 'my.domain::Op']);
    expect(found.results).toEqual([
      [-3, -0, -9],
      [-3, -0, -9],
    ]);
    expect(found.missing.message).toContain('my.domain.Op');
  });

  test('operators of its own worker: a model is compiled with them, beside it too', async ({
    page,
  }) => {
    const found = await page.evaluate(async () => {
      const { Session, startWorker, Tensor } = weft;
      const v0 = new Tensor('float32', Float32Array.of(1, -2, 3, -4), [1, 4]);
      const resultOf = async (compileLimits?: { nodes: number }) => {
        const limits = { ...(compileLimits && { compileLimits }) };
        const options = { worker: startWorker, device: 'webgpu', ...limits } as const;
        const session = await Session.load('/served/decay.onnx', options);
        const { v1 } = await session.run({ v0 });
        await session.dispose();
        return v1?.toNested();
      };
      // A limit of one's own: it is compiled in a thread, from the same script.
      const results = [await resultOf(), await resultOf({ nodes: 10 })];
      return {
        results,
        lacking: await weft.failure(Session.load('/served/decay.onnx', { device: 'webgpu' })),
      };
    });
    const decayed = [[1, -1.5, 2.25, -2.875]];
    expect(found.results).toEqual([decayed, decayed]);
    expect(found.lacking.name).toBe('UnsupportedError');
    expect(found.lacking.message).toContain('com.example.Decay');
  });

  test('other sessions of the worker answer while a hostile model is refused', async ({ page }) => {
    const innocent = '/served/one.onnx';
    const seen = await page.evaluate(
      (url) => weft.besideHostile(url, '/served/functions.onnx'),
      innocent,
    );
    expect(seen.outcome).toBe('CompileLimitError');
    // Were the worker busy with it, one answer would take as long as all of it.
    expect(seen.longestMs / 1000).toBeLessThan(seen.seconds / 2);
  });

  test('a load that is aborted leaves no thread that compiles', async ({ page }) => {
    const failure = page.evaluate(() => {
      const controller = new AbortController();
      globalThis.addEventListener('weft-abort', () => controller.abort(), { once: true });
      const { signal } = controller;
      return weft.failure(weft.Session.load('/served/branches.onnx', { signal }));
    });
    // The worker of the sessions, and beside it the one that compiles.
    await expect.poll(() => page.workers().length).toBe(2);
    await page.evaluate(() => globalThis.dispatchEvent(new Event('weft-abort')));
    expect((await failure).name).toBe('AbortError');
    await expect.poll(() => page.workers().length).toBe(0);
  });
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

test('compares its device with others, in the worker', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const session = await weft.Session.load('/served/add.onnx', { device: 'webgpu' });
    const inputs = { a: weft.Tensor.from([1, 2]) };
    const compared = [await session.compare(inputs), await session.verify(inputs)];
    // The policy of the page.
    const refused = await weft.failure(session.compare(inputs, { against: 'wasm' }));
    await session.dispose();
    return { compared, refused };
  });
  const agreement = { departure: undefined, calls: 1, largestError: 0 };
  expect(found.compared).toEqual([agreement, agreement]);
  expect(found.refused.message).toContain("Add 'wasm-unsafe-eval' to script-src");
});

test('takes pictures', async ({ page }) => {
  const values = await page.evaluate(async () => {
    const session = await weft.Session.load('/served/picture.onnx', { device: 'webgpu' });
    const data = new ImageData(2, 2);
    data.data.set([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 51, 102, 204, 255]);
    const canvas = new OffscreenCanvas(8, 8);
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    context.fillStyle = 'rgb(51 102 204)';
    context.fillRect(0, 0, 8, 8);
    const pictures = [data, canvas, await createImageBitmap(canvas)];
    const outputs = [];
    for (const picture of pictures) outputs.push(await session.run({ picture }));
    const none = await weft.failure(session.run({ picture: new Image() }));
    await session.dispose();
    const greySession = await weft.Session.load('/served/grey.onnx', { device: 'webgpu' });
    const { same } = await greySession.run({ picture: data });
    const grey = Array.from(same?.data ?? [], Number);
    await greySession.dispose();
    return { grey, nested: outputs.map(({ same }) => Array.from(same?.data ?? [], Number)), none };
  });
  const round = values.nested.map(toBytes);
  expect(toBytes(values.grey)).toEqual([76, 150, 29, 98]);
  expect(round[0]).toEqual([255, 0, 0, 51, 0, 255, 0, 102, 0, 0, 255, 204]);
  expect(round[1]).toEqual([51, 51, 51, 51, 102, 102, 102, 102, 204, 204, 204, 204]);
  expect(round[2]).toEqual(round[1]);
  expect(values.none.message).toBe(
    'input "picture": got a picture of 0 x 0, expected one with pixels. Wait until the image or video has loaded.',
  );
});

test('names what is wrong with inputs', async ({ page }) => {
  const failures = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const session = await Session.load('/served/sum.weft', { device: 'webgpu' });
    const x = Tensor.from([1]);
    const found = [
      await weft.failure(session.run({ x, why: x })),
      await weft.failure(session.run({ x, y: Tensor.from([1, 2]) })),
      await weft.failure(session.run({ x, y: Tensor.from([1], 'int32') })),
    ];
    await session.dispose();
    return found;
  });
  expect(failures).toEqual([
    {
      name: 'UsageError',
      message: 'inputs of main: unknown "why", missing "y"; expected "x", "y".',
    },
    {
      name: 'ShapeError',
      message: 'inputs of main: "y": got float32 (2,), expected float32 (n,) (n is 1 in "x").',
    },
    {
      name: 'ShapeError',
      message: 'inputs of main: "y": got int32 (1,), expected float32 (n,) (n is 1 in "x").',
    },
  ]);
});

test('runs many calls at once, moves inputs when told to, and feeds results back', async ({
  page,
}) => {
  const result = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const session = await Session.load('/served/sum.weft', { device: 'webgpu' });
    const one = () => Tensor.from([1]);
    const y = one();
    const runs = Array.from({ length: 20 }, (_, i) => session.run({ x: Tensor.from([i]), y }));
    const sums = (await Promise.all(runs)).map((outputs) => outputs['sum']?.toNested());
    const moved = Tensor.from([5]);
    await session.run({ x: moved, y }, { transfer: false });
    const kept = moved.data.length;
    await session.run({ x: moved, y: one() }, { transfer: true });
    const after = moved.data.length;
    const again = await weft.failure(session.run({ x: moved, y }));
    const first = await session.run({ x: Tensor.from([7]), y }, { keep: 'device' });
    const handle = first['sum'];
    if (handle === undefined) throw new Error('no handle');
    const second = await session.run({ x: handle, y: handle });
    const read = await handle.read();
    for (const output of Object.values(first)) output.dispose();
    const memory = await session.memory();
    const profile = await session.profile({ x: Tensor.from([7]), y });
    await session.dispose();
    return {
      sums,
      kept,
      after,
      again,
      chained: second['sum']?.toNested(),
      read: read.toNested(),
      liveBytes: memory.liveBytes,
      kernels: profile.kernels.map(({ primitive }) => primitive),
    };
  });
  expect(result.sums).toEqual(Array.from({ length: 20 }, (_, i) => [i + 1]));
  expect(result.kept).toBe(1);
  expect(result.after).toBe(0);
  expect(result.again.message).toContain('whose data an earlier run took (transfer: true)');
  expect(result.chained).toEqual([16]);
  expect(result.read).toEqual([8]);
  expect(result.liveBytes).toBe(0);
  expect(result.kernels).toEqual(['add', 'mul']);
});

test('memory of large inputs goes from run to run, and no element with it', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const session = await Session.load('/served/sum.weft', { device: 'webgpu' });
    const filled = (value: number, length: number) =>
      new Tensor('float32', new Float32Array(length).fill(value), [length]);
    const rounds = [];
    for (const [round, length] of [40_000, 40_000, 30_000, 40_000].entries()) {
      const inputs = { x: filled(round, length), y: filled(10, length) };
      const runs = [session.run(inputs), session.run({ ...inputs, y: filled(20, length) })];
      const sums = (await Promise.all(runs)).map(({ sum }) => sum?.data ?? []);
      const values = [...sums, inputs.x.data, inputs.y.data].map((data) => [
        data.length,
        ...new Set(Array.from<number | bigint>(data)),
      ]);
      rounds.push(values);
    }
    await session.dispose();
    return rounds;
  });
  const expected = [40_000, 40_000, 30_000, 40_000].map((length, round) => [
    [length, round + 10],
    [length, round + 20],
    [length, round],
    [length, 10],
  ]);
  expect(found).toEqual(expected);
});

test('memory of disposed results is that of later ones', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { Session, Tensor } = weft;
    const length = 40_000;
    const filled = (value: number) =>
      new Tensor('float32', new Float32Array(length).fill(value), [length]);
    const found = [];
    for (const [device, worker] of [
      ['host', true],
      ['host', false],
      ['webgpu', true],
    ] as const) {
      const session = await Session.load('/served/sum.weft', { device, worker });
      const inputs = { x: filled(1), y: filled(2) };
      const { sum: first } = await session.run(inputs);
      first?.dispose();
      const { sum: second } = await session.run({ ...inputs, x: filled(3) });
      const { sum: third } = await session.run({ ...inputs, x: filled(4) });
      second?.dispose();
      third?.dispose();
      const { sum: fourth } = await session.run({ ...inputs, x: filled(5) });
      const lengths = [first, second, third, inputs.y].map((tensor) => tensor?.data.length);
      found.push([...lengths, ...new Set(Array.from<number | bigint>(fourth?.data ?? []))]);
      await session.dispose();
    }
    return found;
  });
  expect(found).toEqual(Array.from({ length: 3 }, () => [0, 0, 0, 40_000, 7]));
});

test('aborts a load and a run promptly, with the reason of the signal', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { Session } = weft;
    const reason = new Error('enough');
    const early = await weft.failure(
      Session.load('/served/sum.weft', { signal: AbortSignal.abort(reason) }),
    );
    const stuck = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const loadAbort = new AbortController();
    const loading = weft.failure(Session.load(stuck, { signal: loadAbort.signal }));
    setTimeout(() => loadAbort.abort(), 50);
    const load = await loading;
    const session = await Session.load('/served/loop.weft', { device: 'webgpu' });
    const runAbort = new AbortController();
    const running = weft.failure(session.run({ steps: 1e12 }, { signal: runAbort.signal }));
    // Another run gets its turn while the long one goes on.
    const beside = await session.run<number>({ steps: 3 });
    runAbort.abort(reason);
    const run = await running;
    const after = await session.run<number>({ steps: 4 });
    await session.dispose();
    return { early, load, run, beside, after };
  });
  expect(found.early).toEqual({ name: 'Error', message: 'enough' });
  expect(found.load.name).toBe('AbortError');
  expect(found.run).toEqual({ name: 'Error', message: 'enough' });
  expect(found.beside).toEqual({ count: 3 });
  expect(found.after).toEqual({ count: 4 });
});

test('rejects what is pending when a session is disposed of', async ({ page }) => {
  const found = await page.evaluate(async () => {
    const [a, b] = await Promise.all([
      weft.Session.load('/served/loop.weft', { device: 'webgpu' }),
      weft.Session.load('/served/sum.weft', { device: 'webgpu' }),
    ]);
    const running = weft.failure(a.run({ steps: 1e12 }));
    await a.dispose();
    const later = await weft.failure(a.run({ steps: 1 }));
    const one = weft.Tensor.from([1]);
    const { sum } = await b.run({ x: one, y: one });
    await b.dispose();
    return { running: await running, later, sum: sum?.toNested() };
  });
  const disposed = { name: 'UsageError', message: 'The session was disposed.' };
  expect(found).toEqual({ running: disposed, later: disposed, sum: [2] });
});

test('a page of its own worker: packed functions, and its end in every way', async ({
  page,
  watched,
}) => {
  const found = await page.evaluate(async () => {
    const { Session, startWorker } = weft;
    const twice = await Session.load('/served/twice.weft', {
      worker: startWorker,
      device: 'webgpu',
    });
    const half = await Session.load('/served/half.weft', { worker: startWorker, device: 'webgpu' });
    const values = [await twice.run<number>({ x: 21 }), await half.run<number>({ x: 3 })];
    const shared = weft.workers.length;
    const loop = await Session.load('/served/loop.weft', { worker: startWorker, device: 'webgpu' });
    const running = weft.failure(loop.run({ steps: 1e12 }));
    weft.workers[0]?.terminate();
    const terminated = await running;
    const later = await weft.failure(twice.run({ x: 1 }));
    await Promise.all([twice.dispose(), half.dispose(), loop.dispose()]);

    const close = await Session.load('/served/close.weft', {
      worker: startWorker,
      device: 'webgpu',
    });
    const closed = await weft.failure(close.run({ x: 1 }).then(() => close.memory()));
    await close.dispose();

    const fresh = await Session.load('/served/twice.weft', {
      worker: startWorker,
      device: 'webgpu',
    });
    values.push(await fresh.run<number>({ x: 4 }));
    await fresh.dispose();

    const loading = weft.failure(
      Session.load('/served/twice.weft', { worker: startWorker, device: 'webgpu' }),
    );
    weft.workers.at(-1)?.terminate();
    const early = await loading;
    const missing = await weft.failure(
      Session.load('/served/twice.weft', { worker: weft.startMissingWorker }),
    );
    const lacking = await weft.failure(Session.load('/served/twice.weft', { device: 'webgpu' }));
    return { values, shared, terminated, later, closed, early, missing, lacking };
  });
  expect(found.values).toEqual([{ result: 42 }, { result: 1.5 }, { result: 8 }]);
  expect(found.shared).toBe(1);
  const gone = (how: string) => ({
    name: 'WorkerError',
    message: `The worker ${how}. Load the session again to go on.`,
  });
  expect(found.terminated).toEqual(gone('was terminated'));
  expect(found.later).toEqual(gone('was terminated'));
  expect(found.closed).toEqual(gone('stopped'));
  expect(found.early).toEqual(gone('was terminated'));
  expect(found.missing).toEqual({
    name: 'WorkerError',
    message:
      'worker: got one whose file or import is missing or refused, expected the worker of weft-vm 0.1.0. Check the address that your worker function starts, and the policy of the page.',
  });
  // Firefox tells the page of the worker that is missing, too.
  const others = watched.complaints.filter((complaint) => !complaint.includes('no-such-worker'));
  watched.complaints.splice(0, Infinity, ...others);
  expect(found.lacking.name).toBe('UsageError');
  expect(found.lacking.message).toContain('test.twice');
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

test('the first example of the README runs as it stands', async ({ page }) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const example = /```ts[^\n]*\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [imports, ...lines] = example.split('\n');
  expect(imports).toBe("import { Session, Tensor } from 'weft-vm';");
  const body = [
    'const { Session, Tensor } = weft;',
    'const logged = [];',
    'const console = { log: (...values) => logged.push(...values) };',
    ...lines,
    'return [logged[0], Array.from(logged[1].data)];',
  ].join('\n');
  const [adapter, probabilities] = await page.evaluate<[string, number[]]>(
    `(async () => { ${body} })()`,
  );
  expect(adapter).toMatch(/./);
  const sum = probabilities.reduce((total, probability) => total + probability, 0);
  expect(sum).toBeCloseTo(1);
});

test('is stored in the private file system with random states, and goes on after a reload', async ({
  page,
}) => {
  const straight = await page.evaluate(async () => {
    const session = await weft.Session.load('/served/dice.weft', {
      worker: weft.startWorker,
      device: 'webgpu',
    });
    const result = await session.run<number>({ n: 20 });
    await session.dispose();
    return result;
  });
  const held = await page.evaluate(async (at) => {
    const session = await weft.Session.load('/served/dice.weft', {
      worker: weft.startWorker,
      device: 'webgpu',
    });
    const failure = await weft.failure(session.snapshot());
    const paused = session.pause({ at, visit: 9 });
    session.run({ n: 20 }).catch(() => undefined);
    const calls = await paused;
    const store = await weft.opfsStore('dice');
    await store.save(Uint8Array.of(1));
    const checkpoints = await session.checkpointTo(store, { contents: () => ({ note: 'dice' }) });
    await checkpoints.now();
    return { calls, failure };
  }, LOOP_PLACE);
  expect(held.failure.name).toBe('UsageError');
  expect(held.calls).toEqual([{ entry: 'main', at: LOOP_PLACE, depth: 1 }]);
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  const resumed = await page.evaluate(async () => {
    const store = await weft.opfsStore('dice');
    const bytes = (await store.latest()) ?? new Uint8Array(0);
    const executable = '/served/dice.weft';
    const lacking = await weft.failure(
      weft.Session.resume(bytes, { executable, device: 'webgpu' }),
    );
    const session = await weft.Session.resume(bytes, {
      executable,
      device: 'webgpu',
      worker: weft.startWorker,
    });
    const result = await session.resumed.runs[0]?.result<number>();
    const { note } = session.resumed;
    await session.dispose();
    await store.clear();
    const bad = await weft.failure(weft.opfsStore('a/b'));
    return { lacking, result, note, bad, isEmpty: (await store.latest()) === undefined };
  });
  expect(resumed.lacking).toMatchObject({ name: 'UsageError' });
  expect(resumed.lacking.message).toContain('test.throw (packed)');
  expect(resumed).toMatchObject({ result: straight, note: 'dice', isEmpty: true });
  expect(resumed.bad).toMatchObject({
    name: 'UsageError',
    message: 'opfsStore: got the name "a/b", expected a name for a folder, without slashes.',
  });
});
