import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadOptions } from '../../../src/client/index.ts';
import type { SessionPage } from '../../../e2e/pages/session.ts';
import { HOSTILE_MODELS } from '../../../src/testing/hostile-models.ts';
import { writeOnnxModel } from '../../../src/testing/onnx-writer.ts';
import { buildPackage } from '../../hostile/build-package.ts';
import { type Client, loadBeside, type SeenBeside } from '../../hostile/load-beside.ts';
import { type Pages, openPages } from '../../../scripts/open-pages.ts';
import type { Row } from './row.ts';

declare const weft: SessionPage;

const MAX_ANSWER_MS = 500;
const MAX_SECONDS = 10;
const MAX_MEGABYTES = 512;
const MAX_ABORT_MS = 1000;
const SAMPLE_MS = 50;

/** A model that compiles long enough to be stopped midway. */
const SLOW = 'functions that double inside an If';

/** `y = max(x, 0)` of one element. */
const INNOCENT = writeOnnxModel({
  nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
  inputs: [{ name: 'x', shape: [1] }],
  outputs: ['y'],
});

/** Hostile models beside an innocent session: in Node with `worker: false`, in Chromium's shared worker. */
export async function hostileFiles(): Promise<readonly Row[]> {
  return [...(await inNode()), ...(await inChromium())];
}

async function inNode(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-hostile-'));
  try {
    const client = await buildPackage(folder);
    const options: LoadOptions = { worker: false, device: 'host' };
    const innocent = await client.Session.load(INNOCENT, options);
    const rows: Row[] = [];
    for (const { title, bytes } of HOSTILE_MODELS) {
      const watched = await watch([process.pid], () =>
        loadBeside(client, { innocent, bytes: bytes(), options }),
      );
      rows.push(rowOf(`Node: ${title}`, watched));
    }
    rows.push(await abortRow(client, options));
    await innocent.dispose();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Watched {
  readonly seen: SeenBeside;
  readonly megabytes: number;
  /** Work of the processes, in seconds of a core. */
  readonly seconds: number;
}

/** How much the memory of processes grows at the most while something is done. */
async function watch(
  processes: readonly number[],
  work: () => Promise<SeenBeside>,
): Promise<Watched> {
  const held = (): number => processes.reduce((sum, id) => sum + residentMegabytes(id), 0);
  const used = (): number => processes.reduce((sum, id) => sum + workSeconds(id), 0);
  const [before, workBefore] = [held(), used()];
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, held());
  }, SAMPLE_MS);
  try {
    const seen = await work();
    return { seen, megabytes: most - before, seconds: used() - workBefore };
  } finally {
    clearInterval(timer);
  }
}

/** As Linux tells it. */
function residentMegabytes(process: number): number {
  const status = readFileSync(`/proc/${process}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Time in user and kernel mode, as Linux tells it in hundredths of a second. */
function workSeconds(process: number): number {
  const fields = readFileSync(`/proc/${process}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function rowOf(title: string, { seen, megabytes, seconds }: Watched): Row {
  const { outcome, longestMs } = seen;
  return {
    title,
    wanted: `${MAX_ANSWER_MS} ms, work of ${MAX_SECONDS} s, ${MAX_MEGABYTES} MB`,
    got: `${longestMs.toFixed(0)} ms, ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB: ${outcome}`,
    ok:
      longestMs <= MAX_ANSWER_MS &&
      seconds <= MAX_SECONDS &&
      megabytes <= MAX_MEGABYTES &&
      OUTCOMES.has(outcome),
  };
}

/** Some models are refused for another reason, some turn out to be harmless. */
const OUTCOMES = new Set(['CompileLimitError', 'ShapeError', 'UnsupportedError', 'loaded']);

/** After an abort the processor has nothing left to do. */
async function abortRow({ Session }: Client, options: LoadOptions): Promise<Row> {
  const controller = new AbortController();
  const model = HOSTILE_MODELS.find(({ title }) => title === SLOW);
  if (model === undefined) throw new Error(`internal: no model "${SLOW}"`);
  const loading = Session.load(model.bytes(), { ...options, signal: controller.signal });
  const ended = loading.then(
    () => 'loaded',
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
  await pause(MAX_ABORT_MS);
  const start = performance.now();
  controller.abort();
  const outcome = await ended;
  const ms = performance.now() - start;
  await pause(MAX_ABORT_MS - ms);
  const before = process.cpuUsage();
  await pause(MAX_ABORT_MS);
  const { user, system } = process.cpuUsage(before);
  const busy = (user + system) / 1000 / MAX_ABORT_MS;
  return {
    title: 'Node: a load that is aborted',
    wanted: `AbortError, and idle ${MAX_ABORT_MS} ms later`,
    got: `${outcome} after ${ms.toFixed(0)} ms, then ${(100 * busy).toFixed(0)}% of a core`,
    ok: outcome === 'AbortError' && ms <= MAX_ABORT_MS && busy < 0.2,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function inChromium(): Promise<Row[]> {
  const pages = await openPages({ only: ['e2e/pages/session.html'] });
  try {
    const page = await pages.open('e2e/pages/session.html');
    const files = new Map(HOSTILE_MODELS.map(({ bytes }, i) => [`/hostile/${i}.onnx`, bytes]));
    files.set('/hostile/innocent.onnx', () => INNOCENT);
    await page.route('**/hostile/*', (route) => {
      const bytes = files.get(new URL(route.request().url()).pathname);
      return route.fulfill({ body: Buffer.from(bytes?.() ?? []) });
    });
    const renderers = await renderersOf(pages);
    const rows: Row[] = [];
    for (const [index, { title }] of HOSTILE_MODELS.entries()) {
      const look = () =>
        page.evaluate(
          (url) => weft.besideHostile('/hostile/innocent.onnx', url),
          `/hostile/${index}.onnx`,
        );
      rows.push(rowOf(`Chromium: ${title}`, await watch(renderers, look)));
    }
    return rows;
  } finally {
    await pages.close();
  }
}

async function renderersOf({ browser }: Pages): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}
