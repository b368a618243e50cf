import { type Command, Option } from 'commander';
import { type InspectFlags, inspectCommand } from '../inspect-command.ts';
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
