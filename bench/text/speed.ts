import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright';
import { installWllama } from '../../tools/peers/text/wllama/open-peer.ts';
import { writeSection } from '../../scripts/write-section.ts';
import { buildPages, installPeers, PEER_PACKAGES } from '../build-pages.ts';
import { launchBrowser } from '../launch-browser.ts';
import { type PageServer, servePages } from '../serve-pages.ts';
import type { ContestantName } from './page/contestant.ts';
import { promptOf, type SpeedPrompt } from './speed/prompts.ts';
import { type Measured, missedTargets, speedTable } from './speed/speed-table.ts';
import {
  CACHE,
  SPEED_TYPES,
  type SpeedModel,
  speedModel,
  type SpeedType,
} from './speed/speed-model.ts';

/** Who runs which file where. */
interface Race {
  readonly device: 'webgpu' | 'wasm';
  readonly file: 'gguf' | 'onnx';
  readonly contestants: readonly ContestantName[];
  /** Tokens of a prompt that is read, and those that are timed in a turn. */
  readonly prefill: number;
  readonly tokens: number;
}

const RACES: Readonly<Record<string, Race>> = {
  wllama: {
    device: 'wasm',
    file: 'gguf',
    contestants: ['weft', 'weft-fast', 'wllama'],
    prefill: 256,
    tokens: 16,
  },
  wasm: {
    device: 'wasm',
    file: 'onnx',
    contestants: ['weft', 'weft-fast', 'onnxruntime'],
    prefill: 256,
    tokens: 16,
  },
  // The adapter in software takes seconds.
  webgpu: {
    device: 'webgpu',
    file: 'onnx',
    contestants: ['weft', 'onnxruntime'],
    prefill: 64,
    tokens: 8,
  },
};

/** Tokens before the ones that are timed. */
const POSITIONS = [56, 1016];

/** Once the turns of a row took so long, no more are begun; each contestant has one at least. */
const BUDGET_MS = 40_000;

const USAGE = `npm run bench -- text [OPTIONS]
  --race LIST    of ${Object.keys(RACES).join(',')} (default: all)
  --type LIST    of ${SPEED_TYPES.join(',')} (default: all)
  --rounds N     turns of each contestant, of which the median counts (default 5; fewer where they take long)
  --write        put the table into docs/performance.md`;

/** Times text generation beside other runtimes; see README.md. Resolves to the exit status: 1 when a target is missed. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (options === undefined) {
    console.error(USAGE);
    return 2;
  }
  installPeers();
  const pages = await buildPages('text/page');
  const wllama = join(installWllama(), 'wllama');
  const server = await servePages({ pages, peers: PEER_PACKAGES, warm: [], isIsolated: false });
  const browser = await launchBrowser('software');
  try {
    const measured: Measured[] = [];
    for (const type of options.types) {
      const model = await speedModel(type);
      console.error(`${type}: ${(model.weightCount / 1e6).toFixed(1)} million weights`);
      server.offer(offered(model, wllama));
      for (const name of options.races) {
        const race = RACES[name];
        if (race === undefined) continue;
        const context = await browser.newContext();
        try {
          const page = await openPage(await context.newPage(), server);
          measured.push(await run(page, { race, name, type, model, rounds: options.rounds }));
        } finally {
          await context.close();
        }
      }
    }
    const command = ['npm run bench -- text', ...args].join(' ');
    const date = new Date().toISOString().slice(0, 10);
    const about = `\`${command}\`, ${date}, Chromium ${browser.version()}, SwiftShader.`;
    const text = `${about}\n\n${speedTable(measured)}`;
    console.log(text);
    if (options.isWritten) {
      writeSection(join(import.meta.dirname, '../../docs/performance.md'), SECTION, text);
    }
    const missed = missedTargets(measured);
    for (const line of missed) console.error(`missed: ${line}`);
    return missed.length > 0 ? 1 : 0;
  } finally {
    await browser.close();
    server.close();
  }
}

const SECTION = 'npm run bench -- text --write';

interface SpeedOptions {
  readonly races: readonly string[];
  readonly types: readonly SpeedType[];
  readonly rounds: number;
  readonly isWritten: boolean;
}

function parseOptions(args: readonly string[]): SpeedOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      race: { type: 'string', default: Object.keys(RACES).join(',') },
      type: { type: 'string', default: SPEED_TYPES.join(',') },
      rounds: { type: 'string', default: '5' },
      write: { type: 'boolean', default: false },
    },
  });
  const races = values.race.split(',');
  const types = SPEED_TYPES.filter((type) => values.type.split(',').includes(type));
  const rounds = Number(values.rounds);
  const isKnown = races.every((name) => Object.hasOwn(RACES, name)) && types.length > 0;
  if (!isKnown || !(rounds >= 1)) return undefined;
  return { races, types, rounds, isWritten: values.write };
}

/** The model's files and wllama's by their paths. */
function offered(model: SpeedModel, wllama: string): ReadonlyMap<string, Uint8Array> {
  const encoder = new TextEncoder();
  return new Map([
    ['/model/model.gguf', model.gguf],
    ['/model/model.onnx', model.onnx],
    ...[...model.files].map(([name, text]) => [`/model/${name}`, encoder.encode(text)] as const),
    ...['esm/index.js', 'esm/wasm/wllama.wasm'].map(
      (name) => [`/wllama/${name}`, readFileSync(join(wllama, name))] as const,
    ),
  ]);
}

async function openPage(page: Page, server: PageServer): Promise<Page> {
  page.setDefaultTimeout(0);
  page.on('pageerror', (error) => console.error(`  page: ${error.message}`));
  await page.goto(`${server.origin}/page.html`);
  await page.waitForFunction(() => 'speed' in globalThis);
  return page;
}

interface RunOrder {
  readonly name: string;
  readonly race: Race;
  readonly type: SpeedType;
  readonly model: SpeedModel;
  readonly rounds: number;
}

/** All contestants with their model, then by turns. */
async function run(page: Page, { name, race, type, model, rounds }: RunOrder): Promise<Measured> {
  const { device, file, contestants, prefill, tokens } = race;
  for (const contestant of contestants) {
    const request = { device, model: `/model/model.${file}`, cache: CACHE };
    await page.evaluate(([who, given]) => globalThis.speed.start(who, given), [
      contestant,
      request,
    ] as const);
  }
  const figures = new Map<string, number[]>();
  const turns = async (
    title: string,
    turn: (contestant: ContestantName, round: number) => Promise<number>,
  ) => {
    const begin = performance.now();
    const isOver = (): boolean => performance.now() - begin > BUDGET_MS;
    // The first turn of each compiles, and reads the prompt.
    for (let round = 0; round <= rounds && !(round > 1 && isOver()); round++) {
      for (const contestant of contestants) {
        const ms = await turn(contestant, round);
        if (round === 0)
          console.error(`  ${name} ${title}: ${contestant} begins with ${ms.toFixed(1)} ms`);
        const key = `${contestant} ${title}`;
        if (round > 0) figures.set(key, [...(figures.get(key) ?? []), ms]);
      }
    }
    for (const contestant of contestants) {
      const all = figures.get(`${contestant} ${title}`) ?? [];
      console.error(
        `  ${name} ${title}: ${contestant} ${all.map((ms) => ms.toFixed(1)).join(' ')}`,
      );
    }
  };
  await turns(`prefill ${prefill}`, (contestant, round) => {
    const prompt = promptOf(model.tokenizer, prefill, 50 + round);
    return page.evaluate(([who, given]) => globalThis.speed.prefill(who, given), [
      contestant,
      prompt,
    ] as const);
  });
  for (const position of POSITIONS) {
    const prompt: SpeedPrompt = promptOf(model.tokenizer, position, 3);
    await turns(`decode ${position + 8}`, (contestant) =>
      page.evaluate(([who, given, count]) => globalThis.speed.decode(who, given, count), [
        contestant,
        prompt,
        tokens,
      ] as const),
    );
  }
  return { name, type, contestants, figures };
}
