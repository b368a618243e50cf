import { type Command, Option } from 'commander';
import type { Executable } from '../../bytecode/index.ts';
import { printExecutable } from '../../bytecode/text/print.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { foldLines } from '../fold-lines.ts';
import { readProgram } from '../files/read-program.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import type { CommandParts } from './command-parts.ts';
import { deviceOption, dimsOption, limitOption } from './common-options.ts';

/** Adds the command `weft inspect`. */
export function addInspectCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('inspect')
    .summary('list a program')
    .description(
      'Says what a .weft file costs, or the result of compiling another file, and lists its functions and bytecode.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(new Option('--ts', 'TypeScript that builds the same executable').conflicts('stats'))
    .option('--all', 'also instructions for memory and sizes, and tables')
    .option('--data', 'a listing of all with weights, which can be parsed back')
    .option('--stats', 'counts of functions, registers, constants and bytes')
    .addOption(
      new Option(
        '--kernel-source [name]',
        'the code that a device runs for a kernel; without a name for all',
      ).conflicts(['ts', 'all', 'data', 'stats']),
    )
    .addOption(deviceOption('the device of --kernel-source'))
    .addOption(dimsOption())
    .addOption(limitOption())
    .action((path: string, flags: InspectFlags) => run(inspectCommand(path, flags, terminal)));
}

interface InspectFlags {
  readonly ts?: boolean;
  readonly stats?: boolean;
  readonly data?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly kernelSource?: string | true;
  readonly device?: 'auto' | 'host' | 'wasm' | 'webgpu';
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
}

/** `weft inspect`: what a program costs and its listing, its builder calls, its numbers, or the code of its kernels. */
async function inspectCommand(
  path: string,
  {
    ts = false,
    stats = false,
    data = false,
    all = false,
    json = false,
    kernelSource,
    device = 'auto',
    dim = {},
    limit,
  }: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  const progress = new ProgressLine(terminal);
  const executable = await readProgram(path, {
    dims: dim,
    compileLimits: limit,
    onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
  });
  progress.clear();
  if (kernelSource !== undefined) {
    const { formatKernelSources, kernelSources } = await import('../print-kernel-sources.ts');
    const found = await kernelSources(executable, { device, kernels: kernelSource });
    if (json) writeJson(terminal, 'inspect', { ...found });
    else terminal.out(formatKernelSources(found));
  } else if (ts) terminal.out(executable.toTypeScript());
  else if (json) {
    const listed = listing(executable, { data, all: all || data });
    writeJson(terminal, 'inspect', { ...(await summaryOf(executable)), listing: listed });
  } else if (stats) terminal.out(withEnd(executable.stats()));
  else if (data) terminal.out(withEnd(listing(executable, { data, all: true })));
  else {
    const { formatSummary } = await import('../summarize-program.ts');
    const summary = formatSummary(await summaryOf(executable));
    const text = `${summary}\n${listing(executable, { data, all })}`;
    terminal.out(withEnd(foldLines(text, terminal.columns)));
  }
  return 0;
}

const withEnd = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

async function summaryOf(executable: Executable) {
  return (await import('../summarize-program.ts')).summarizeProgram(executable);
}

/** Instructions that keep memory and sizes in order; what a program computes is in the others. */
const BOOKKEEPING =
  /^ *\d+: (?:%\d+ = )?call vm\.builtin\.(?:kill|alloc_\w+|check_tensor_info|match_shape|reuse)\(.*$\n/gm;
/** Tables that instructions refer to. */
const TABLES = /^(?:references|metadata) \{\n(?:.*\n)*?\}\n\n?/gm;

/** Weights are left out unless asked for: they make megabytes of text. */
function listing(
  executable: Executable,
  { data, all }: { readonly data: boolean; readonly all: boolean },
): string {
  if (data) return printExecutable(executable);
  const { data: _, ...program } = executable;
  const text = printExecutable(program);
  if (all) return text;
  const shown = text.replaceAll(BOOKKEEPING, '').replaceAll(TABLES, '');
  return `${shown.trimEnd()}\n\n// Without instructions for memory and sizes: --all shows them.\n`;
}
