import {
  configureWorker,
  DeviceTensor,
  modelCache,
  opfsStore,
  Session,
  Tensor,
} from '../../src/client/index.ts';
import { loadBeside, type SeenBeside } from '../../tools/hostile/load-beside.ts';

/** Workers that this page started and that were not terminated. */
const live = new Set<Worker>();
globalThis.Worker = class extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args);
    live.add(this);
  }

  override terminate(): void {
    live.delete(this);
    super.terminate();
  }
};

/** The page's interface to the tests. */
const page = {
  configureWorker,
  Session,
  Tensor,
  DeviceTensor,
  modelCache,
  opfsStore,
  workers: [] as Worker[],
  liveWorkers: () => live.size,
  /** A worker of the page's own, which it can get at. */
  startWorker: (): Worker => {
    const worker = new Worker(new URL('./session-worker.ts', import.meta.url), { type: 'module' });
    page.workers.push(worker);
    return worker;
  },
  /** A worker whose adapter says that it is graphics hardware. */
  startForcedWorker: () =>
    new Worker(new URL('./forced-worker.ts', import.meta.url), { type: 'module' }),
  /** Observations of a session while a hostile model is loaded in the same worker. */
  async besideHostile(innocentUrl: string, url: string): Promise<SeenBeside> {
    const options = { device: 'webgpu' } as const;
    const innocent = await Session.load(innocentUrl, options);
    const seen = await loadBeside(page, { innocent, bytes: await page.bytes(url), options });
    await innocent.dispose();
    return seen;
  },
  async compile(text: string): Promise<Uint8Array> {
    const { compile, parseModule } = await import('../../src/compiler/index.ts');
    return compile(parseModule(text)).toBytes();
  },
  startMissingWorker: () => new Worker('/no-such-worker.js', { type: 'module' }),
  async bytes(url: string): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await (await fetch(url)).arrayBuffer());
  },
  /** Name and message with which a promise rejects. */
  async failure(promise: Promise<unknown>): Promise<{ name: string; message: string }> {
    try {
      await promise;
    } catch (error) {
      if (error instanceof Error) return { name: error.name, message: error.message };
      return { name: typeof error, message: String(error) };
    }
    return { name: 'none', message: 'it resolved' };
  },
};

export type SessionPage = typeof page;

// Tests look whether workers end.
for (const worker of [true, page.startWorker, page.startForcedWorker]) {
  configureWorker({ worker, idleMs: 0 });
}

Object.assign(globalThis, { weft: page });
document.documentElement.dataset['ready'] = 'true';
