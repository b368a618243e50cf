import type { Command } from 'commander';
import { type RunFlags, runCommand } from '../run-command.ts';
import { collectPairs, positiveNumber, threadsOption } from '../parse-options.ts';
import type { CommandParts } from './command-parts.ts';
import {
  deviceOption,
  dimsOption,
  dispatchOption,
  indexCheckOption,
  limitOption,
} from './common-options.ts';

/** Adds the command `weft run`. */
export function addRunCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('run')
    .summary('run a program once')
    .description('Runs the function main of a .weft, .onnx or .ir file and prints its outputs.')
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .option(
      '-i, --input <NAME=FILE>',
      'a .pb, .npy or .json file (a number for an int or float input); repeatable',
      collectPairs,
    )
    .option(
      '-o, --output <NAME=FILE>',
      'write an output as .npy or .json; repeatable',
      collectPairs,
    )
    .option(
      '--expect <NAME=FILE>',
      'compare an output with a .pb, .npy or .json file; repeatable',
      collectPairs,
    )
    .option('--function <name>', 'the function to run; default: main')
    .option('--rtol <number>', 'relative tolerance of --expect', positiveNumber, 1e-3)
    .option('--atol <number>', 'absolute tolerance of --expect', positiveNumber, 1e-5)
    .addOption(deviceOption('the device to run on', ['browser']))
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(dispatchOption())
    .addOption(limitOption())
    .addOption(indexCheckOption())
    .option('--profile', 'run twice and print the kernels of the second run with their times')
    .addHelpText('after', HELP)
    .action((path: string, flags: RunFlags) => run(runCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft run mnist.weft --input Input3=digit.npy
  weft run mnist.onnx --input Input3=input_0.pb --expect Plus214_Output_0=output_0.pb
  weft run mnist.weft --input Input3=digit.json --output Plus214_Output_0=logits.npy
  weft run life.weft --input board=board.npy --input steps=100 --profile

Devices: webgpu needs the package "webgpu" (npm install webgpu) and takes any adapter; auto takes
it where it finds graphics hardware and says so when it does not; host needs nothing and is slow; browser
starts a Chrome, Chromium or Edge without a window, the one that WEFT_BROWSER names or one that is found.`;
