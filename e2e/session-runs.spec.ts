import { LOOP_PLACE } from '../src/runtime/testing/long-programs.ts';
import { expect } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';
import { test } from './session-test.ts';

declare const weft: SessionPage;

/** Elements from 0 to 1 as 8-bit colours. */
function toBytes(numbers: readonly number[]): number[] {
  return numbers.map((value) => Math.round(value * 255));
}

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
