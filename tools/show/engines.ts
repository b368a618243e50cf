import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import {
  engineTable,
  type EngineResult,
  failuresOf,
  refusalsThatDiffer,
} from '../conformance/engines/engine-result.ts';
import { ENGINE_NAMES, type EngineName } from '../conformance/engines/open-engine.ts';
import { runEngine } from '../conformance/engines/run-engine.ts';
import { installFirefox } from '../../scripts/install-firefox.mjs';
import { installNatsServer } from '../../scripts/install-nats-server.mjs';
import { writeSection } from '../../scripts/write-section.ts';
import { runCommand } from '../run-command.ts';

const ENGINES_PAGE = fileURLToPath(new URL('../../docs/engines.md', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../.weft-cache/engines', import.meta.url));
/** The part of operator and ONNX cases that runs unless told otherwise. */
const SHARE = '0.2';

interface Options {
  readonly share: string;
  readonly all?: true;
  readonly seed: string;
  readonly browserTests: boolean;
  readonly write?: true;
}

const isEngineName = (word: string): word is EngineName =>
  (ENGINE_NAMES as readonly string[]).includes(word);

/** `npm run show -- engines`: resolves to 0 only when everything passes in every engine. */
export async function main(words: readonly string[] = []): Promise<number> {
  const command = new Command('engines')
    .description(
      'Runs operators, ONNX cases, models and browser tests in engines, and prints a table.',
    )
    .argument('[engine...]', `of ${ENGINE_NAMES.join(', ')}; all of them by default`)
    .option('--share <number>', 'the part of operator and ONNX cases to run', SHARE)
    .option('--all', 'all cases')
    .option('--seed <number>', 'draws the cases', String(Date.now() % 100_000))
    .option('--no-browser-tests', 'leave the browser tests out')
    .option('--write', 'put the last runs of all cases, one in each engine, into docs/engines.md');
  return runCommand(command, words, async () => {
    const names = command.args;
    const unknown = names.filter((name) => !isEngineName(name));
    if (unknown.length > 0) {
      throw new Error(`got ${unknown.join(', ')}, expected ${ENGINE_NAMES.join(', ')}`);
    }
    return show(
      ENGINE_NAMES.filter((name) => names.length === 0 || names.includes(name)),
      command.opts<Options>(),
    );
  });
}

async function show(names: readonly EngineName[], options: Options): Promise<number> {
  const { all = false, browserTests, write = false } = options;
  const seed = Number(options.seed);
  if (!Number.isSafeInteger(seed))
    throw new Error(`--seed: got ${options.seed}, expected a number`);
  const share = all ? 1 : Number(options.share);
  if (!(share > 0 && share <= 1)) {
    throw new Error(`--share: got ${options.share}, expected a number above 0, at most 1`);
  }
  const isWhole = share === 1 && browserTests;
  if (share < 1) {
    console.log(`${share * 100}% of operator and ONNX cases, drawn by --seed ${seed}`);
  }
  // Deno runs on the driver that Firefox gets.
  if (names.some((name) => name === 'firefox' || name === 'deno')) installFirefox(process.cwd());
  if (options.browserTests) installNatsServer(process.cwd());
  const results: EngineResult[] = [];
  const failures: string[] = [];
  for (const name of names) {
    try {
      const sample = { share, seed, hasBrowserTests: browserTests };
      const result = await runEngine(name, sample);
      results.push(result);
      if (isWhole && failuresOf(result).length === 0) keepResult(name, result);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  failures.push(...results.flatMap(failuresOf), ...refusalsThatDiffer(results));
  const table = engineTable(results);
  console.log(`\n${table}\n`);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) return 1;
  if (write) {
    writeSection(ENGINES_PAGE, 'npm run show -- engines --write', engineTable(keptResults()));
  }
  console.log('all of it passes');
  return 0;
}

const fileOf = (name: EngineName): string => join(FOLDER, `${name}-result.json`);

/** Keeps what a whole run in an engine gave, so that each engine can have a run of its own. */
function keepResult(name: EngineName, result: EngineResult): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(name), `${JSON.stringify(result, undefined, 1)}\n`);
}

/** The last whole run in each engine. Throws when one is missing. */
function keptResults(): EngineResult[] {
  const missing = ENGINE_NAMES.filter((name) => !existsSync(fileOf(name)));
  if (missing.length > 0) {
    throw new Error(`--write: no whole run in ${missing.join(', ')}; --all makes one.`);
  }
  return ENGINE_NAMES.map((name) => JSON.parse(readFileSync(fileOf(name), 'utf8')) as EngineResult);
}
