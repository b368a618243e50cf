import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { CaseRunner } from './engines/engine.ts';
import type { Outcome } from './conformance-case.ts';
import { findCases, type FoundCase } from './find-cases.ts';
import { closingLine, formatReport } from './report.ts';
import { RUNNERS } from './engines/open-engine.ts';
import { parseThreads } from '../parse-threads.ts';
import { runCommand } from '../run-command.ts';

interface Options {
  readonly device: string;
  readonly threads: string;
  readonly apart?: boolean;
  readonly filter?: string;
  readonly json?: string;
}

const HELP = `
Each folder below a DIR with a model.onnx and test_data_set_* folders is a case; each data set
counts once. Integers and booleans have to be equal, floats within rtol 1e-3 and atol 1e-5.
Floats of a model with QuantizeLinear and DequantizeLinear have to be within 3% of their range, with
the same largest class.

Examples:
  npm run conformance -- models
  npm run conformance -- models --filter '^d' --device dawn --json report.json`;

/** `npm run conformance -- DIR...`: resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('conformance')
    .description('Runs ONNX models through the public Session and compares the results.')
    .argument('<dir...>', 'folders that hold cases')
    .option(
      '--device <name>',
      'webgpu (headless Chromium), firefox, deno, dawn (WebGPU in Node), wasm, host or auto (in Node)',
      'webgpu',
    )
    .option('--threads <number>', 'of wasm; they share all work, however little it is', '1')
    .option('--apart', 'with threads that have memories of their own')
    .option('--filter <regexp>', 'only cases whose name matches')
    .option('--json <file>', 'write all outcomes to a file')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => runAll(command.args, command.opts<Options>()));
}

async function runAll(roots: readonly string[], options: Options): Promise<number> {
  const { device, filter, json } = options;
  const threads = parseThreads(options, device);
  const open = Object.hasOwn(RUNNERS, device) ? RUNNERS[device] : undefined;
  if (open === undefined) {
    throw new Error(`--device: got ${device}, expected ${Object.keys(RUNNERS).join(', ')}.`);
  }
  const pattern = filter === undefined ? undefined : new RegExp(filter);
  const cases = roots
    .flatMap((root) => findCases(resolve(root)))
    .filter(({ name }) => pattern?.test(name) ?? true);
  if (cases.length === 0) throw new Error(`No case matches --filter ${filter}.`);
  const runner = await open(threads);
  console.log(`${cases.length} cases on ${runner.title}`);
  const outcomes = await runCases(cases, runner);
  console.log(`\n${formatReport(outcomes)}`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(outcomes, undefined, 1)}\n`);
  return outcomes.some(({ status }) => status === 'failed') ? 1 : 0;
}

async function runCases(cases: readonly FoundCase[], runner: CaseRunner): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  try {
    for (const [index, found] of cases.entries()) {
      outcomes.push(...(await runner.run(found)));
      if (process.stderr.isTTY) {
        process.stderr.write(`\r${index + 1} of ${cases.length}: ${closingLine(outcomes)} `);
      }
    }
  } finally {
    await runner.close();
  }
  return outcomes;
}
