import { Command, CommanderError } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { UsageError } from '../core/errors.ts';
import {
  addBenchCommand,
  addCheckCommand,
  addCompareCommand,
  addViewCommand,
  addServeCommand,
} from './commands/loaded-commands.ts';
import { addCompileCommand } from './commands/compile-command.ts';
import { addExportCommand } from './commands/export-command.ts';
import { addGradCommand } from './commands/grad-command.ts';
import { addInspectCommand } from './commands/inspect-command.ts';
import { addOptCommand } from './commands/opt-command.ts';
import { addQuantizeCommand } from './commands/quantize-command.ts';
import { addRunCommand } from './commands/run-command.ts';
import { addTextCommand } from './commands/text-command.ts';
import type { CommandParts } from './commands/command-parts.ts';
import { writeError, writeJsonError } from './report.ts';
import { addRpcCommands } from './rpc/add-rpc-commands.ts';
import { endWithReader, processTerminal, type Terminal } from './terminal.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** The `weft` command. Resolves to the exit status: 0, 1 for a failure, 2 for wrong usage. */
export async function main(
  args: readonly string[],
  terminal: Terminal = processTerminal,
): Promise<number> {
  let status = 0;
  const run = async (command: Promise<number>): Promise<void> => {
    status = await command;
  };
  if (terminal === processTerminal) endWithReader();
  try {
    await makeProgram({ terminal, run }).parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    const [command = ''] = args;
    const isJson = args.includes('--json');
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Commander has written its message, or the help, to standard error already.
      if (isJson && error.code !== 'commander.help') {
        writeJsonError(terminal, command, new UsageError(error.message.replace(/^error: /, '')));
      }
      return EXIT_USAGE;
    }
    writeError(terminal, error, { command, isJson });
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
}

/** The commands, as help lists them. */
const COMMANDS = [
  addCompileCommand,
  addGradCommand,
  addExportCommand,
  addTextCommand,
  addQuantizeCommand,
  addOptCommand,
  addInspectCommand,
  addViewCommand,
  addRunCommand,
  addCheckCommand,
  addCompareCommand,
  addBenchCommand,
  addServeCommand,
];

function makeProgram(parts: CommandParts): Command {
  const { terminal } = parts;
  const program = new Command('weft')
    .description('Compiles neural networks to executables for a tensor VM, and runs them.')
    .version(packageFile.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
    })
    .showHelpAfterError('(add --help for usage)')
    .addHelpText('after', HELP);
  for (const add of COMMANDS) add(program, parts);
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    const hasJson = command.options.some(({ long }) => long === '--json');
    if (!hasJson) {
      command.option('--json', 'print what was found as JSON');
    }
  }
  addRpcCommands(program, parts);
  return program;
}

const HELP = `
Examples:
  weft compile model.onnx -o model.weft      compile once ...
  weft inspect model.weft                    ... see what it became ...
  weft run model.weft --input x=x.npy        ... and run it

An .onnx file or a program as text (.ir) works wherever a .weft file does; it is then compiled first.
Exit status: 0, 1 when something failed, 2 for wrong usage.`;
