import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { runCommand } from '../run-command.ts';
import { type Change, planted, sourcesHash } from './change.ts';
import { drawChanges } from './draw-changes.ts';
import { HAND_MADE, handMadeChange } from './hand-made.ts';
import { ReachingTests, type Tier } from './reaching-tests.ts';
import { isDone, type Result, Results, resultTable } from './results.ts';
import { ChangeTrial } from './try-change.ts';
import { WorkingCopy } from './working-copy.ts';

interface Options {
  readonly seed: number;
  readonly count: number;
  readonly only: string;
  readonly tier: Tier;
  readonly minutes: number;
  readonly again?: boolean;
  readonly list?: boolean;
  readonly table?: boolean;
}

const HELP = `
Changes are planted in a copy, .weft-cache/mutants/tree, one at a time. Each is tried with the tests that reach its file by
imports, the nearest first, up to the first that fails; then with the type check, then with what \`npm test -- --all\` adds.
Code of pages is also tried with the browser tests of the pages that load it.
Results are kept for the same sources and seed: call it again until none is left.

Examples:
  npm run mutants -- --list
  npm run mutants -- --minutes 30
  npm run mutants -- --only src/ops
  npm run mutants -- --only modulo --again
  npm run mutants -- --table`;

function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be an integer from 0 up.');
}

/** `npm run mutants`: resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const tier = new Option('--tier <tier>', 'tests to try them with').choices(['test', 'all']);
  const command = new Command('mutants')
    .description('Plants faults in the sources, and says which of them the tests notice.')
    .option('--seed <number>', 'decides which changes are drawn', wholeNumber, 1)
    .option('--count <number>', 'changes to draw, beside those made by hand', wholeNumber, 60)
    .option('--only <word>', 'only changes whose file, kind or id has the word', '')
    .addOption(tier.default('all'))
    .option('--minutes <number>', 'how long to work on', wholeNumber, 10)
    .option('--again', 'try those once more that survived')
    .option('--list', 'print the changes, try nothing')
    .option('--table', 'print the results for docs/tests.md, try nothing')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => mutants(command.opts<Options>()));
}

async function mutants({ seed, count, only, tier, minutes, ...modes }: Options): Promise<number> {
  const untilMs = Date.now() + minutes * 60_000;
  const repository = resolve('.');
  const cache = join(repository, '.weft-cache/mutants');
  const copy = new WorkingCopy(join(cache, 'tree'));
  const isLookedAt = modes.list === true || modes.table === true;
  if (!isLookedAt) copy.refresh(repository);
  const root = isLookedAt ? repository : copy.root;
  const changes = [
    ...drawChanges(root, { seed, count }),
    ...HAND_MADE.map((made) => handMadeChange(root, made)),
  ].filter(({ file, kind, id }) => [file, kind, id].some((text) => text.includes(only)));
  if (changes.length === 0)
    throw new Error(`--only: got ${only}, expected a word of a change; --list shows them.`);
  if (modes.list === true) {
    for (const change of changes) console.log(patchOf(root, change));
    return 0;
  }
  const results = new Results(join(cache, `${sourcesHash(root)}-${seed}.json`));
  if (modes.table === true) {
    console.log(resultTable(changes, { results, describe: (change) => describe(root, change) }));
    return 0;
  }
  const survived = changes.filter((change) => results.of(change)?.state === 'survived');
  if (modes.again === true) for (const change of survived) results.keep(change, undefined);
  const trial = new ChangeTrial({ copy, tests: new ReachingTests(root), results, tier, untilMs });
  const isLeft = (change: Change): boolean => !isDone(results.of(change), tier);
  for (const change of changes.filter(isLeft)) {
    if (Date.now() >= untilMs) break;
    console.log(`${describe(root, change)}: ${outcomeOf(await trial.try(change))}`);
  }
  const left = changes.filter(isLeft).length;
  const states = changes.map((change) => results.of(change)?.state);
  const counted = (state: Result['state']) => states.filter((one) => one === state).length;
  console.log(`${counted('noticed')} noticed, ${counted('survived')} survived, ${left} left`);
  return 0;
}

function patchOf(root: string, change: Change): string {
  const source = readFileSync(join(root, change.file), 'utf8');
  const { file, id, kind, effect } = change;
  const patch = createTwoFilesPatch(file, file, source, planted(source, change), '', '', {
    context: 1,
  });
  return [
    `${id} ${kind}${effect === undefined ? '' : `: ${effect}`}`,
    ...patch.split('\n').slice(1),
  ].join('\n');
}

/** In a line: its place, what is replaced by what, and what goes wrong. */
function describe(root: string, { file, start, end, text, kind, effect = kind }: Change): string {
  const source = readFileSync(join(root, file), 'utf8');
  const line = source.slice(0, start).split('\n').length;
  const shown = (piece: string): string => {
    const flat = piece.replace(/\s+/g, ' ').trim();
    return flat === '' ? 'nothing' : `\`${flat.length > 70 ? `${flat.slice(0, 70)}…` : flat}\``;
  };
  return `\`${file}:${line}\`, ${shown(source.slice(start, end))} to ${shown(text)} (${effect})`;
}

function outcomeOf({ state, tier, by, seconds, passed }: Result): string {
  const command = tier === 'all' ? 'npm test -- --all' : 'npm test';
  if (state === 'noticed') return `noticed by ${command} in ${seconds} s, ${by}`;
  const tried = passed.filter((test) => test !== 'types').length;
  return `${state} after ${seconds} s and ${tried} files of tests of ${command}`;
}
