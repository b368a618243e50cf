import { otherDomainModel } from '../src/testing/other-domain-model.ts';
import type { LoadOptions, ProgramFunction } from '../src/client/index.ts';
import { expect } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';
import { test } from './session-test.ts';

declare const weft: SessionPage;

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
  expect(await page.evaluate(() => weft.liveWorkers())).toBeLessThanOrEqual(1);
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
  const seen = await page.evaluate(async () => {
    const innocent = await weft.Session.load('/served/one.onnx', { device: 'webgpu' });
    const load = { isOver: false };
    const refusal = weft
      .failure(weft.Session.load('/served/functions.onnx', { device: 'webgpu' }))
      .finally(() => (load.isOver = true));
    let answers = 0;
    while (!load.isOver) {
      await innocent.memory();
      await innocent.run({ x: weft.Tensor.from([-1]) });
      if (!load.isOver) answers++;
    }
    await innocent.dispose();
    return { name: (await refusal).name, answers };
  });
  expect(seen.name).toBe('CompileLimitError');
  // Were the worker busy with it, it would answer what was asked before, and nothing else.
  expect(seen.answers).toBeGreaterThan(2);
});

test('a load that is aborted leaves no thread that compiles', async ({ page }) => {
  const found = await page.evaluate(async () => {
    // Of the same worker, which stays.
    const innocent = await weft.Session.load('/served/one.onnx', { worker: weft.startWorker });
    const threads = new BroadcastChannel('threads');
    const nextNews = () =>
      new Promise<string>((resolve) =>
        threads.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
      );
    const controller = new AbortController();
    const options = { signal: controller.signal, worker: weft.startWorker };
    const started = nextNews();
    const failure = weft.failure(weft.Session.load('/served/branches.onnx', options));
    const news = [await started];
    const ended = nextNews();
    controller.abort();
    news.push(await ended);
    threads.close();
    const { y } = await innocent.run({ x: weft.Tensor.from([-1]) });
    await innocent.dispose();
    return { news, failure: await failure, y: y?.toNested() };
  });
  expect(found.news).toEqual(['started', 'ended']);
  expect(found.failure.name).toBe('AbortError');
  expect(found.y).toEqual([0]);
});

test('a page of its own worker: packed functions, and its end in every way', async ({
  page,
  watched,
}) => {
  const found = await page.evaluate(async () => {
    const { Session, startWorker } = weft;
    // Those of other tests are gone.
    weft.workers.length = 0;
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
