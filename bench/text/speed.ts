import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Page } from 'playwright';
import { installWllama } from '../../tools/peers/text/wllama/open-peer.ts';
import { median } from '../../src/core/median.ts';
import { buildPages, installPeers, PEER_PACKAGES } from '../build-pages.ts';
import type { BenchDevice } from '../cases/bench-case.ts';
import { inPage, launchBrowser } from '../open-page.ts';
import type { ContestantName } from '../page/text.ts';
import { servePages } from '../serve-pages.ts';
import { namesOf, parseCount, parsed, withArguments } from '../options.ts';
import { printSection } from '../print-section.ts';
import { markdown } from '../table.ts';
import {
  CACHE,
  promptOf,
  SPEED_TYPES,
  type SpeedModel,
  speedModel,
  type SpeedType,
} from './speed-model.ts';

/** Who runs which file where. The peer is the last contestant. */
interface Race {
  readonly title: string;
  readonly device: BenchDevice;
  readonly file: 'gguf' | 'onnx';
  readonly contestants: readonly ContestantName[];
  /** Tokens of a prompt that is read, and those that are timed in a turn. */
  readonly prefill: number;
  readonly tokens: number;
  /** How many times as fast as the peer decoding has to be in the better precision, behind the counted ones of {@link POSITIONS}. */
  readonly target?: { readonly ratio: number; readonly positions: readonly number[] };
}

/** Tokens before the ones that are timed. */
const POSITIONS = [56, 1016];

const RACES: Readonly<Record<string, Race>> = {
  wllama: {
    title: 'GGUF on wasm, one thread',
    device: 'wasm',
    file: 'gguf',
    contestants: ['weft', 'weft-fast', 'wllama'],
    prefill: 256,
    tokens: 16,
    target: { ratio: 1, positions: POSITIONS },
  },
  wasm: {
    title: 'ONNX on wasm, one thread',
    device: 'wasm',
    file: 'onnx',
    contestants: ['weft', 'weft-fast', 'onnxruntime'],
    prefill: 256,
    tokens: 16,
  },
  // The adapter in software takes seconds.
  webgpu: {
    title: 'ONNX on WebGPU',
    device: 'webgpu',
    file: 'onnx',
    contestants: ['weft', 'onnxruntime'],
    prefill: 64,
    tokens: 8,
    target: { ratio: 2, positions: POSITIONS.slice(-1) },
  },
};

const NAMES: Readonly<Record<ContestantName, string>> = {
  weft: 'Weft',
  'weft-fast': "Weft, `precision: 'fast'`",
  wllama: 'wllama',
  onnxruntime: 'onnxruntime-web',
};

/** Once the turns of a row took so long, no more are begun; each contestant has one at least. */
const BUDGET_MS = 40_000;

interface Options {
  readonly race: readonly string[];
  readonly type: readonly SpeedType[];
  readonly rounds: number;
  readonly write?: true;
}

const command = (): Command => {
  const races = Object.keys(RACES);
  return new Command('npm run bench -- text')
    .option('--race <list>', `of ${races.join(',')}`, namesOf(races), races)
    .option('--type <list>', `of ${SPEED_TYPES.join(',')}`, namesOf(SPEED_TYPES), SPEED_TYPES)
    .option(
      '--rounds <number>',
      'turns of each contestant, of which the median counts',
      parseCount,
      5,
    )
    .option('--write', 'put the table into docs/performance.md');
};

/** Times text generation beside other runtimes; see README.md. Resolves to the exit status: 1 when a target is missed. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parsed(() => withArguments(command(), args).opts<Options>());
  if (typeof options === 'number') return options;
  installPeers();
  const pages = await buildPages();
  const wllama = join(installWllama(), 'wllama');
  const server = await servePages({ pages, peers: PEER_PACKAGES, warm: [], isIsolated: false });
  const browser = await launchBrowser('software');
  const results: RaceResult[] = [];
  try {
    for (const type of options.type) {
      const model = await speedModel(type);
      console.error(`${type}: ${(model.weightCount / 1e6).toFixed(1)} million weights`);
      server.offer(offered(model, wllama));
      for (const race of options.race.flatMap((name) => RACES[name] ?? [])) {
        const { rounds } = options;
        const times = await inPage({ browser, server }, (page) =>
          run(page, { race, model, rounds }),
        );
        results.push({ race, type, times });
      }
    }
  } finally {
    await browser.close();
    server.close();
  }
  const said = ['npm run bench -- text', ...args].join(' ');
  const about = `${browser.version()}, SwiftShader.`;
  const place = options.write === true ? 'npm run bench -- text --write' : undefined;
  printSection({ command: said, about, parts: [table(results)] }, place);
  const missed = results.flatMap(missedTargets);
  for (const line of missed) console.error(`missed: ${line}`);
  return missed.length > 0 ? 1 : 0;
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

/** Median milliseconds of a token by contestant: in a prompt, then behind each of {@link POSITIONS}. */
type Times = Readonly<Partial<Record<ContestantName, readonly number[]>>>;

interface RaceResult {
  readonly race: Race;
  readonly type: SpeedType;
  readonly times: Times;
}

interface RunOptions {
  readonly race: Race;
  readonly model: SpeedModel;
  readonly rounds: number;
}

/** All contestants with their model, then by turns. */
async function run(page: Page, { race, model, rounds }: RunOptions): Promise<Times> {
  const { device, file, contestants, tokens } = race;
  for (const contestant of contestants) {
    const request = { device, model: `/model/model.${file}`, cache: CACHE };
    const given = [contestant, request] as const;
    await page.evaluate(
      async (given) => (await globalThis.bench.text()).startText(...given),
      given,
    );
  }
  const times = Object.fromEntries(contestants.map((name) => [name, [] as number[]]));
  const turns = async (
    title: string,
    turn: (contestant: ContestantName, round: number) => Promise<number>,
  ) => {
    const begin = performance.now();
    const isOver = (): boolean => performance.now() - begin > BUDGET_MS;
    const figures = contestants.map((): number[] => []);
    // The first turn of each compiles, and reads the prompt.
    for (let round = 0; round <= rounds && !(round > 1 && isOver()); round++) {
      for (const [i, contestant] of contestants.entries()) {
        figures[i]?.push(await turn(contestant, round));
      }
    }
    for (const [i, contestant] of contestants.entries()) {
      const all = figures[i] ?? [];
      const said = all.map((ms) => ms.toFixed(1)).join(' ');
      console.error(`  ${race.title}, ${title}: ${contestant} begins with ${said}`);
      times[contestant]?.push(median(all.slice(1)));
    }
  };
  await turns('a token of a prompt', async (contestant, round) => {
    const given = [contestant, promptOf(model.tokenizer, race.prefill, 50 + round)] as const;
    return (
      (await page.evaluate(
        async (given) => (await globalThis.bench.text()).prefill(...given),
        given,
      )) / race.prefill
    );
  });
  for (const position of POSITIONS) {
    const prompt = promptOf(model.tokenizer, position, 3);
    await turns(`decode ${position + 8}`, (contestant) =>
      page.evaluate(async (given) => (await globalThis.bench.text()).decode(...given), [
        contestant,
        prompt,
        tokens,
      ] as const),
    );
  }
  return times;
}

const HEADER = ['', 'weights', '', 'prefill ms a token', 'decode 64 ms', 'decode 1024 ms'];

/** A row for each contestant; ratios are the peer's time over the contestant's. */
function table(results: readonly RaceResult[]): string {
  const rows = results.flatMap(({ race: { title, contestants }, type, times }) =>
    contestants.map((contestant, i) => {
      const peer = times[contestants.at(-1) ?? contestant] ?? [];
      const cells = (times[contestant] ?? []).map((ms, at) =>
        i === contestants.length - 1
          ? figure(ms)
          : `${figure(ms)} (${((peer[at] ?? NaN) / ms).toFixed(2)}x)`,
      );
      return [...(i === 0 ? [title, type] : ['', '']), NAMES[contestant], ...cells];
    }),
  );
  return markdown(HEADER, rows);
}

/** Where Weft is not as much faster than its peer as it has to be. */
function missedTargets({ race, type, times }: RaceResult): string[] {
  const { title, contestants, target } = race;
  const peer = contestants.at(-1) ?? 'weft';
  return POSITIONS.flatMap((position, i) => {
    if (target?.positions.includes(position) !== true) return [];
    const at = (name: ContestantName): number => times[name]?.[i + 1] ?? NaN;
    const ratio = at(peer) / Math.min(...contestants.slice(0, -1).map(at));
    if (ratio >= target.ratio) return [];
    return [`${title}, ${type}, decode ${position + 8}: ${ratio.toFixed(2)}x of ${target.ratio}x`];
  });
}

const figure = (ms: number): string => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0));
