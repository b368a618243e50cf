import { Command } from 'commander';
import {
  type FileKind,
  FUZZ_TARGETS,
  type FuzzReport,
  type FuzzRequest,
  runInputs,
} from './fuzz-files/run-inputs.ts';
import { addReports, runPiece } from './fuzz-files/run-pieces.ts';
import { runCommand } from '../run-command.ts';

const PIECE = 5000;
/** Inputs of each kind in the long mode: a million and a half in all. ONNX files are compiled, which takes longest. */
const LONG: Readonly<Record<FileKind, number>> = {
  executable: 500_000,
  onnx: 200_000,
  tflite: 100_000,
  snapshot: 300_000,
  gguf: 100_000,
  tokenizer: 100_000,
  template: 100_000,
  grammar: 100_000,
  generation: 100_000,
};

interface Options {
  readonly kind?: string;
  readonly count: string;
  readonly seed: string;
  readonly long?: boolean;
  readonly piece?: boolean;
}

const HELP = `
Input i has the seed SEED + i, so that \`--kind KIND --seed N --count 1\` runs the one that was printed.

Examples:
  npm run fuzz:files -- --count 5000
  npm run fuzz:files -- --long`;

/** `npm run fuzz:files`: resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('fuzz:files')
    .description(
      'Reads and runs executables, models, snapshots, tokenizers, templates, grammars and saved generations that were changed and have right hashes and lengths. Each has to come to success or to an error with a type, within 10 s of processor time and 512 MB.',
    )
    .option('--kind <kind>', `${Object.keys(FUZZ_TARGETS).join(', ')}; all by default`)
    .option('--count <number>', 'inputs of each kind', '1000')
    .option('--seed <number>', 'seed of the first input', '1')
    .option('--long', 'a million and a half inputs, in pieces of a process each')
    .option('--piece', 'as one such process: prints a report as JSON')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => fuzz(command.opts<Options>()));
}

async function fuzz({ kind, count, seed, long, piece }: Options): Promise<number> {
  const kinds = Object.keys(FUZZ_TARGETS) as FileKind[];
  const chosen = kinds.filter((known) => kind === undefined || known === kind);
  if (chosen.length === 0) throw new Error(`--kind: got ${kind}, expected ${kinds.join(', ')}.`);
  let problems = 0;
  for (const one of chosen) {
    const total = long === true ? LONG[one] : Number(count);
    const request = { kind: one, seed: Number(seed), count: total };
    if (piece === true) return runAsPiece(request);
    const report = long === true ? await runLong(request) : await runInputs(request);
    problems += report.problems.length;
    print(request, report);
  }
  return problems === 0 ? 0 : 1;
}

async function runAsPiece(request: FuzzRequest): Promise<number> {
  const onInput = (done: number, seed: number): void => {
    if (done % 100 === 0) console.log(seed);
  };
  console.log(JSON.stringify(await runInputs({ ...request, onInput })));
  return 0;
}

async function runLong({ kind, seed, count }: FuzzRequest): Promise<FuzzReport> {
  let all: FuzzReport = { count: 0, outcomes: {}, problems: [], slowest: { seed, cpuMs: 0 } };
  for (let done = 0; done < count; done += PIECE) {
    const piece = { kind, seed: seed + done, count: Math.min(PIECE, count - done) };
    const report = await runPiece(piece);
    for (const problem of report.problems)
      console.error(`${kind} ${problem.seed}: ${problem.text}`);
    all = addReports(all, report);
    console.error(`${kind}: ${all.count} of ${count}, ${all.problems.length} problems`);
  }
  return all;
}

function print({ kind, seed, count }: FuzzRequest, report: FuzzReport): void {
  const { outcomes, problems, slowest } = report;
  const counts = Object.entries(outcomes)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `${number} ${name}`);
  console.log(`${kind}, ${count} inputs from seed ${seed}: ${counts.join(', ')}`);
  console.log(`  the slowest took ${slowest.cpuMs.toFixed(0)} ms (seed ${slowest.seed})`);
  for (const problem of problems) console.log(`  PROBLEM, seed ${problem.seed}: ${problem.text}`);
}
