import { type Command, Option } from 'commander';
import { compareCommand, type CompareFlags } from '../check-command.ts';
import type { CommandParts } from './command-parts.ts';
import { runsBeside } from './runs-beside.ts';

/** Adds the command `weft compare`. */
export function addCompareCommand(program: Command, { terminal, run }: CommandParts): void {
  const command = program
    .command('compare')
    .summary('compare a device with another one')
    .description(
      'Runs the function main of a .weft, .onnx or .ir file beside the same instructions on another device, and names the first value that departs. With a second file: beside another compilation of the same source, or against values by their names.',
    )
    .addOption(
      new Option('--against <device>', 'the device that is right')
        .choices(['host', 'wasm'])
        .default('host'),
    );
  runsBeside(command, '0.001', ['browser'])
    .argument(
      '[second]',
      'a .weft, .onnx or .ir file of the same source, a .npz file, or a folder with a .npy, .pb or .json file for each value',
    )
    .action((path: string, second: string | undefined, flags: CompareFlags) =>
      run(compareCommand(path, second, flags, terminal)),
    );
}
