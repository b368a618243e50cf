import { expose } from 'comlink';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Deferred } from '../../core/async/deferred.ts';
import { VERSION } from '../../core/version.ts';
import { createService } from '../../worker/create-service.ts';
import { sumAndProduct } from '../../worker/testing/test-programs.ts';
import { configureWorker, Session, Tensor } from '../index.ts';
import { FakeWorker } from '../testing/fake-worker.ts';

const started: FakeWorker[] = [];
/** Resolves when a worker starts. */
let starting = new Deferred();

/** The option `worker` for a fake one, to which `prepare` is done when it starts. */
function fake(prepare: (worker: FakeWorker) => void): () => Worker {
  return () => {
    const worker = new FakeWorker();
    started.push(worker);
    prepare(worker);
    starting.resolve();
    return worker as unknown as Worker;
  };
}

beforeEach(() => {
  starting = new Deferred();
});

afterEach(() => {
  for (const { inside } of started.splice(0)) inside.close();
  vi.useRealTimers();
});

/** Messages go their way while these stand still. */
const fakeTimeouts = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

const bytes = sumAndProduct().toBytes();
const x = Tensor.from([1]);

const OWN =
  'Your own worker must call serve() of weft-vm/worker at the top of its module; if files load slowly, raise workerTimeout.';
const ONE =
  'Take page and worker from the same installation of weft-vm, and clear caches after an update.';
const LOOK = 'Check the address that your worker function starts, and the policy of the page.';

function message(got: string, remedy: string): string {
  return `worker: got ${got}, expected the worker of weft-vm ${VERSION}. ${remedy}`;
}

describe('the handshake with a worker', () => {
  test('lets sessions through to one that answers, which ends with the last of them', async () => {
    const worker = fake(({ inside }) => expose(createService(), inside));
    configureWorker({ worker, idleMs: 0 });
    const session = await Session.load(bytes, { worker, device: 'host' });
    const { sum } = await session.run({ x, y: x });
    expect(sum?.toNested()).toEqual([2]);
    await session.dispose();
    expect(started.map(({ terminations }) => terminations)).toEqual([1]);
  });

  test('is done once for loads that follow within 10 seconds', async () => {
    fakeTimeouts();
    const worker = fake(({ inside }) => expose(createService(), inside));
    for (let i = 0; i < 2; i++) {
      const session = await Session.load(bytes, { worker, device: 'host' });
      await session.dispose();
      vi.advanceTimersByTime(9_999);
    }
    expect(started.map(({ terminations }) => terminations)).toEqual([0]);
    vi.advanceTimersByTime(1);
    expect(started.map(({ terminations }) => terminations)).toEqual([1]);
    const session = await Session.load(bytes, { worker, device: 'host' });
    await session.dispose();
    expect(started).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
  });

  test('is over when a device that had work is done', async () => {
    fakeTimeouts();
    let isBusy = true;
    let asked = 0;
    const worker = fake(({ inside }) => {
      const service = createService();
      service.dispose = async () => {
        asked++;
        return { ok: true, value: isBusy };
      };
      expose(service, inside);
    });
    configureWorker({ worker, idleMs: 0 });
    await (await Session.load(bytes, { worker, device: 'host' })).dispose();
    for (const count of [2, 3]) {
      vi.advanceTimersByTime(1000);
      await vi.waitUntil(() => asked === count);
      isBusy = false;
      // The answer comes back, and the next look is set.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(started.map(({ terminations }) => terminations)).toEqual([1]);
  });

  test('gives up after 30 seconds, and terminates the worker', async () => {
    fakeTimeouts();
    const loading = Session.load(bytes, { worker: fake(() => undefined) });
    const outcome = loading.catch((error: unknown) => error);
    await starting.promise;
    vi.advanceTimersByTime(29_999);
    expect(started[0]?.terminations).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await outcome).toMatchObject({
      name: 'WorkerError',
      message: message('no answer within 30000 ms', OWN),
      details: { reason: 'no answer' },
    });
    expect(started[0]?.terminations).toBe(1);
  });

  test('gives up after workerTimeout, and the next load starts anew', async () => {
    let isSilent = true;
    const worker = fake(({ inside }) => {
      if (!isSilent) expose(createService(), inside);
    });
    await expect(Session.load(bytes, { worker, workerTimeout: 20 })).rejects.toThrow(
      message('no answer within 20 ms', OWN),
    );
    isSilent = false;
    configureWorker({ worker, idleMs: 0 });
    const session = await Session.load(bytes, { worker, device: 'host', workerTimeout: 60_000 });
    await session.dispose();
    expect(started.map(({ terminations }) => terminations)).toEqual([1, 1]);
  });

  test('does not count what comes after the answer', async () => {
    fakeTimeouts();
    const slow = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          vi.advanceTimersByTime(1500);
          controller.enqueue(bytes);
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const worker = fake(({ inside }) => expose(createService(), inside));
    const session = await Session.load(slow, { worker, device: 'host', workerTimeout: 1000 });
    await session.dispose();
  });

  test('refuses one of another version', async () => {
    const worker = fake(({ inside }) =>
      expose({ handshake: () => ({ version: '0.0.9' }) }, inside),
    );
    await expect(Session.load(bytes, { worker })).rejects.toMatchObject({
      name: 'WorkerError',
      message: message('that of 0.0.9', ONE),
      details: { reason: 'other version' },
    });
    expect(started[0]?.terminations).toBe(1);
  });

  test('refuses one that answers Comlink, but not the handshake', async () => {
    const worker = fake(({ inside }) => expose({ holdLock: () => undefined }, inside));
    await expect(Session.load(bytes, { worker })).rejects.toThrow(
      message('a worker that does not know the handshake', ONE),
    );
  });

  test('is over at once when the file cannot be loaded', async () => {
    const worker = fake((worker) => queueMicrotask(() => worker.fail()));
    await expect(Session.load(bytes, { worker })).rejects.toMatchObject({
      name: 'WorkerError',
      message: message('one whose file or import is missing or refused', LOOK),
      details: { reason: 'not loaded' },
    });
  });

  test('is over at once when the module throws', async () => {
    const worker = fake((worker) =>
      queueMicrotask(() => worker.fail({ message: 'Uncaught: boom' })),
    );
    await expect(Session.load(bytes, { worker })).rejects.toThrow(
      'The worker failed: Uncaught: boom. Load the session again to go on.',
    );
  });

  test('says what the start threw', async () => {
    const cause = new Error('no such thing');
    const worker = (): Worker => {
      throw cause;
    };
    await expect(Session.load(bytes, { worker })).rejects.toMatchObject({
      name: 'WorkerError',
      message: message('the error "no such thing"', LOOK),
      cause,
    });
  });

  test('sees a terminate before the answer', async () => {
    const loading = Session.load(bytes, { worker: fake(() => undefined) });
    const outcome = loading.catch((error: unknown) => error);
    await starting.promise;
    started[0]?.terminate();
    expect(await outcome).toMatchObject({
      name: 'WorkerError',
      message: 'The worker was terminated. Load the session again to go on.',
    });
  });

  test('ends with the only load that waits for it', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { signal } = controller;
    const loading = Session.load(bytes, { worker: fake(() => undefined), signal });
    const outcome = loading.catch((error: unknown) => error);
    await starting.promise;
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    expect(started[0]?.terminations).toBe(1);
  });
});
