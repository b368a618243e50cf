import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { build } from 'vite';
import { launchChromium } from '../../scripts/launch-chromium.ts';
import { type PageServer, servePages } from '../../bench/serve-pages.ts';
import { Session } from '../../src/client/index.ts';
import type { Checks } from '../show/checks.ts';
import { race, startCold } from './litert/times-in-page.ts';
import { readWebModel, WEB_MODELS, type WebModel, webPackages } from './models.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = fileURLToPath(new URL('litert/page/index.html', import.meta.url));

/** How much less time than LiteRT.js a run takes, and a cold start. */
const RUN_RATIO = 1.2;
const COLD_RATIO = 2;
/** Gzipped, before the first outputs; the model apart. */
const MOST_BYTES = 200_000;
const COLD_MODELS = ['face_detection_short_range', 'hand_landmark_full'];
const COLD_STARTS = 5;
const RACE = { warmMs: 1000, rounds: 15, roundMs: 60 };

interface Lab {
  readonly server: PageServer;
  readonly browser: Browser;
}

/** Runs and starts of each model by turns with LiteRT.js, on wasm and one thread. `--untimed` only tells the times. */
export async function showTimes(
  checks: Checks,
  words: readonly string[],
  flags: readonly string[],
): Promise<void> {
  const models = WEB_MODELS.filter(
    ({ name, isUnresolved }) =>
      isUnresolved !== true && (words.length === 0 || words.includes(name)),
  );
  const isTimed = !flags.includes('--untimed');
  const lab = await openLab();
  try {
    checks.section(
      `Medians of ${RACE.rounds} rounds by turns in one page, wasm, one thread: at least ${RUN_RATIO}x as fast as LiteRT.js`,
    );
    for (const model of models) await raceOne(model, { lab, checks, isTimed });
    checks.section(
      `Cold starts, medians of ${COLD_STARTS} by turns: at least ${COLD_RATIO}x as fast, and at most ${MOST_BYTES / 1000} KB`,
    );
    for (const model of models.filter(({ name }) => COLD_MODELS.includes(name))) {
      await startOne(model, { lab, checks, isTimed });
    }
  } finally {
    await lab.browser.close();
    lab.server.close();
  }
}

async function openLab(): Promise<Lab> {
  const library = join(ROOT, '.weft-cache/webmodels/library');
  mkdirSync(library, { recursive: true });
  await build({
    configFile: join(ROOT, 'scripts/library.config.ts'),
    root: ROOT,
    logLevel: 'error',
    build: { outDir: library, emptyOutDir: true },
  });
  const warm = [
    '@litertjs/core/dist/index.js',
    '@litertjs/wasm-utils/dist/index.js',
    '@litertjs/core/wasm/litert_wasm_internal.js',
    '@litertjs/core/wasm/litert_wasm_internal.wasm',
  ];
  const server = await servePages({
    pages: library,
    peers: webPackages(),
    warm,
    isIsolated: false,
  });
  return { server, browser: await launchChromium() };
}

interface Place {
  readonly lab: Lab;
  readonly checks: Checks;
  readonly isTimed: boolean;
}

/** A page in a context of its own, and the model's input. */
async function openModel({ server, browser }: Lab, model: WebModel) {
  const bytes = readWebModel(model);
  server.offer(
    new Map([
      ['/index.html', new Uint8Array(readFileSync(PAGE))],
      ['/model.tflite', bytes],
    ]),
  );
  const session = await Session.load(bytes.slice(), { device: 'host', worker: false });
  const [input] = session.inputs;
  await session.dispose();
  if (input === undefined) throw new Error(`${model.name}: got no input`);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.origin}/index.html`);
  await page.waitForFunction(() => 'importWeft' in globalThis);
  return { page, input: { input: input.name, shape: input.shape.map(Number) } };
}

const closed = async (page: Page): Promise<void> => page.context().close();

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

async function raceOne(model: WebModel, { lab, checks, isTimed }: Place): Promise<void> {
  const { page, input } = await openModel(lab, model);
  try {
    const times = await page.evaluate(race, { ...input, ...RACE, worker: true });
    const [weft, liteRt] = [median(times.weft), median(times.liteRt)];
    const text = `${model.name}: ${weft.toFixed(2)} ms, LiteRT.js ${liteRt.toFixed(2)} ms, ${(liteRt / weft).toFixed(2)}x`;
    checks.check(!isTimed || liteRt / weft >= RUN_RATIO, text);
  } catch (error) {
    checks.check(false, `${model.name}: ${String(error)}`);
  } finally {
    await closed(page);
  }
}

async function startOne(model: WebModel, { lab, checks, isTimed }: Place): Promise<void> {
  const times = { weft: [] as number[], liteRt: [] as number[] };
  const sent = { weft: 0, liteRt: 0 };
  for (let start = 0; start < COLD_STARTS; start++) {
    for (const runtime of ['weft', 'liteRt'] as const) {
      const { page, input } = await openModel(lab, model);
      lab.server.takeSentBytes();
      times[runtime].push(await page.evaluate(startCold, { ...input, runtime }));
      sent[runtime] = lab.server.takeSentBytes().runtime;
      await closed(page);
    }
  }
  const [weft, liteRt] = [median(times.weft), median(times.liteRt)];
  const isFast = liteRt / weft >= COLD_RATIO;
  checks.check(
    !isTimed || isFast,
    `${model.name}: first outputs after ${weft.toFixed(0)} ms, LiteRT.js ${liteRt.toFixed(0)} ms, ${(liteRt / weft).toFixed(2)}x`,
  );
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} KB`;
  checks.check(
    sent.weft <= MOST_BYTES,
    `${model.name}: ${kilobytes(sent.weft)} gzipped, LiteRT.js ${kilobytes(sent.liteRt)}`,
  );
}
