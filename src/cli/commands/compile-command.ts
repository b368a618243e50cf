import type { Command } from 'commander';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Executable } from '../../bytecode/index.ts';
import type { DevicePair } from '../../compiler/compile.ts';
import type { DispatchReport } from '../../compiler/passes/dispatch-by-shape/dispatch.ts';
import type { ModuleDispatch } from '../../compiler/passes/dispatch-by-shape/dispatch-by-shape.ts';
import type { Placement } from '../../compiler/passes/place-devices.ts';
import type { NodeTypes } from '../../core/contracts/node-function.ts';
import { UsageError } from '../../core/errors.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { formatBytes } from '../format-bytes.ts';
import { isExecutableFile } from '../files/open-executable.ts';
import { memoryBudgetOption, splitNames } from '../parse-options.ts';
import { readBytes } from '../files/read-file.ts';
import { readPasses } from '../files/read-passes.ts';
import { compileFile } from '../files/read-program.ts';
import { warn, writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { writeExecutable } from '../files/write-executable.ts';
import type { CommandParts } from './command-parts.ts';
import {
  dimsOption,
  dispatchOption,
  indexCheckOption,
  limitOption,
  nodeFunctionOption,
  placementOption,
} from './common-options.ts';

/** Adds the command `weft compile`. */
export function addCompileCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('compile')
    .summary('compile a model or a program to a .weft file')
    .description(
      'Compiles an ONNX model, or a program as text, to an executable that any Weft session loads.',
    )
    .argument('<file>', 'an .onnx model or an .ir program')
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .addOption(dimsOption())
    .addOption(dispatchOption())
    .addOption(placementOption())
    .addOption(memoryBudgetOption())
    .addOption(limitOption())
    .addOption(indexCheckOption())
    .option('--pass <FILE,...>', '.js, .ts and .rules files with passes that run too', splitNames)
    .addOption(nodeFunctionOption())
    .option('--dump', 'print the program after each pass')
    .option('--dump-after <PASS,...>', 'print the program after these passes', splitNames)
    .addHelpText('after', HELP)
    .action((path: string, flags: CompileFlags) => run(compileCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft compile mnist.onnx -o mnist.weft
  weft compile bert.onnx -o bert.weft --dim batch=1 --dim sequence=128
  weft compile mnist.onnx -o mnist.weft --dump | less
  weft compile program.ir -o program.weft --dump-after fuse,to-anf
  weft compile bert.onnx -o bert.weft --dispatch main.input_ids.1=log:1:512:2`;

interface CompileFlags {
  readonly output: string;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly devices?: DevicePair;
  readonly limit?: CompileLimits;
  readonly memoryBudget?: number;
  readonly check?: 'indices';
  readonly pass?: readonly string[];
  readonly function?: NodeTypes;
  readonly dump?: boolean;
  readonly dumpAfter?: readonly string[];
  readonly json?: boolean;
}

/** `weft compile`: an ONNX model or a program in text form to a `.weft` file. */
export async function compileCommand(
  path: string,
  flags: CompileFlags,
  terminal: Terminal,
): Promise<number> {
  const { output, dim = {}, dispatch, devices, limit, memoryBudget, check } = flags;
  const { function: nodeTypes, dump = false, dumpAfter = [] } = flags;
  if (await isExecutableFile(path)) {
    throw new UsageError({
      where: path,
      got: 'an executable',
      expected: 'an .onnx model or an .ir program',
    });
  }
  const bytes = await readBytes(path);
  const { allPasses, printModule } = await import('../../frontend/index.ts');
  const passes = (await Promise.all((flags.pass ?? []).map(readPasses))).flat();
  const own = passes.map(({ pass }) => pass.name);
  requirePasses(dumpAfter, ['source', ...allPasses().map(({ name }) => name), ...own]);
  // Before minutes of compiling: a folder that cannot be made is told at once.
  await mkdir(dirname(output), { recursive: true });
  const progress = new ProgressLine(terminal);
  try {
    const reports: DispatchReport[] = [];
    const placements: Placement[] = [];
    const warnings: string[] = [];
    const executable = await compileFile(path, bytes, {
      dims: dim,
      dispatch,
      devices,
      memoryBudget,
      compileLimits: limit,
      check,
      passes,
      functions: nodeTypes,
      onDispatch: (report) => reports.push(report),
      onWarning: (message) => warnings.push(message),
      onPlacement: (placement) => placements.push(placement),
      onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
      dump: (pass, module) => {
        if (!dump && !dumpAfter.includes(pass)) return;
        const text = `// after ${pass}\n${printModule(module)}\n`;
        if (flags.json === true) terminal.err(text);
        else terminal.out(text);
      },
    });
    const byteLength = await writeExecutable(executable, output, {
      onBytes: (done, total) =>
        progress.show(`writing: ${formatBytes(done)} of ${formatBytes(total)}`),
    });
    progress.clear();
    for (const warning of warnings) warn(terminal, warning);
    const { functions, primitives, dataByteLength } = executable;
    if (flags.json === true) {
      writeJson(terminal, 'compile', {
        output,
        byteLength,
        functions: functions.length,
        kernels: primitives.length,
        weightBytes: dataByteLength,
        placements,
        references: await referencesOf(executable),
        dispatch: reports,
        warnings,
      });
      return 0;
    }
    for (const report of reports) terminal.out(describeDispatch(report));
    terminal.out(describePlacements(placements));
    terminal.out(await describeReferences(executable));
    terminal.out(
      `${output}: ${formatBytes(byteLength)}, ${functions.length} function(s), ` +
        `${primitives.length} kernel(s), ${formatBytes(dataByteLength)} of weights\n`,
    );
    return 0;
  } finally {
    progress.clear();
  }
}

function requirePasses(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const expected = `one of ${known.join(', ')}`;
  throw new UsageError({ where: '--dump-after', got: unknown, expected });
}

/** A line for each call that runs beside WebGPU, and how many there are. */
function describePlacements(placements: readonly Placement[]): string {
  if (placements.length === 0) return '';
  const lines = placements.map(
    ({ node, operator, reason }) => `${node}: ${operator} runs beside WebGPU: ${reason}\n`,
  );
  return `${lines.join('')}${placements.length} call(s) beside WebGPU\n`;
}

/** A line for each kernel that has no WebAssembly. */
async function describeReferences(executable: Executable): Promise<string> {
  return (await referencesOf(executable))
    .map(({ primitive, label }) => `${primitive}: ${label} runs its reference on wasm\n`)
    .join('');
}

/** Steps of kernels that have no WebAssembly. */
async function referencesOf({ primitives }: Executable) {
  const { referenceSteps } = await import('../../worker/tools/reference-steps.ts');
  return referenceSteps({ primitives });
}

function describeDispatch(report: DispatchReport): string {
  const { name, clones, pruned, expressionsBefore, expressionsAfter } = report;
  const without = pruned === 0 ? '' : `, ${pruned} pruned`;
  return (
    `${name}: ${clones} clone(s) by shape${without}; ` +
    `from ${expressionsBefore} to ${expressionsAfter} expressions, weights shared\n`
  );
}
