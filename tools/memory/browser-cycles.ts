import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import type { SessionPage } from '../../e2e/pages/session.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { openPages } from '../../scripts/open-pages.ts';
import type { MemorySample } from './memory-sample.ts';
import { MODEL_COLUMNS, MODEL_ROWS, modelFile } from './model-file.ts';
import { WorkerInspector } from './worker-inspector.ts';

declare const weft: SessionPage;

const SAMPLES_PER_RUN = 20;
const MODEL_PATH = 'memory-model.weft';

/** Counts the bytes of live GPU buffers in the worker. */
const COUNT_BUFFERS = `(() => {
  const live = new Map();
  const { createBuffer } = GPUDevice.prototype;
  const { destroy } = GPUBuffer.prototype;
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const buffer = createBuffer.call(this, descriptor);
    live.set(buffer, descriptor.size);
    return buffer;
  };
  GPUBuffer.prototype.destroy = function () {
    live.delete(this);
    return destroy.call(this);
  };
  globalThis.liveBytes = () => [...live.values()].reduce((sum, size) => sum + size, 0);
})()`;

interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize?: number;
  readonly embedderHeapUsedSize?: number;
}

/**
 * Cycles of load, run and dispose in Chromium's worker, which another session keeps. Memory of the
 * process is that of the page with its worker and of the GPU process.
 */
export async function runBrowserCycles(
  device: 'host' | 'webgpu',
  count: number,
): Promise<readonly MemorySample[]> {
  const pages = await openPages({ only: ['e2e/pages/session.html'] });
  try {
    const page = await pages.open('e2e/pages/session.html');
    const body = Buffer.from(compileOnnx(modelFile()).toBytes());
    await page.route(`**/${MODEL_PATH}`, (route) => route.fulfill({ body }));
    const attaching = WorkerInspector.attach(page);
    await page.evaluate(keepSession, { device, path: `/${MODEL_PATH}` });
    const worker = await attaching;
    await worker.evaluate(COUNT_BUFFERS);
    const samples: MemorySample[] = [];
    const step = Math.floor(count / SAMPLES_PER_RUN);
    const work = { device, step, path: `/${MODEL_PATH}`, rows: MODEL_ROWS, columns: MODEL_COLUMNS };
    for (let cycle = step; cycle <= count; cycle += step) {
      await page.evaluate(cycles, work);
      samples.push(await sample(cycle, page, worker));
    }
    return samples;
  } finally {
    await pages.close();
  }
}

/** In the page: a session that keeps the worker. */
async function keepSession({ device, path }: Pick<Work, 'device' | 'path'>): Promise<void> {
  await weft.Session.load(path, { device });
}

interface Work {
  readonly device: 'host' | 'webgpu';
  readonly step: number;
  readonly path: string;
  readonly rows: number;
  readonly columns: number;
}

/** In the page. */
async function cycles({ device, step, path, rows, columns }: Work): Promise<void> {
  for (let i = 0; i < step; i++) {
    const session = await weft.Session.load(path, { device });
    const x = new weft.Tensor('float32', new Float32Array(rows).fill(1), [1, rows]);
    const { y } = await session.run({ x });
    if (y?.data.length !== columns) throw new Error('no result');
    await session.dispose();
  }
}

async function sample(cycle: number, page: Page, worker: WorkerInspector): Promise<MemorySample> {
  for (let round = 0; round < 3; round++) {
    await page.requestGC();
    await worker.send('HeapProfiler.collectGarbage');
  }
  const heap = await worker.send<HeapUsage>('Runtime.getHeapUsage');
  const { usedSize, backingStorageSize = 0, embedderHeapUsedSize = 0 } = heap;
  return {
    cycle,
    scriptBytes: usedSize + backingStorageSize + embedderHeapUsedSize,
    processBytes: await processBytes(page),
    deviceBytes: await worker.evaluate<number>('liveBytes()'),
  };
}

/** The resident memory of the page's renderer, which is the largest, and of the GPU process. */
async function processBytes(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('internal: a page without a browser');
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const largest = (kind: string): number =>
    Math.max(
      0,
      ...processInfo.filter(({ type }) => type === kind).map(({ id }) => residentBytes(id)),
    );
  return largest('renderer') + largest('GPU');
}

/** Of a process on Linux; 0 elsewhere. */
function residentBytes(pid: number): number {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return Number(pages) * 4096;
  } catch {
    return 0;
  }
}
