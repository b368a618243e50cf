import { type Command, Option } from 'commander';
import { deviceNames, inputsOption, threadsOption } from '../parse-options.ts';
import { parseCount } from '../parse-training.ts';
import type { CommandParts } from '../commands/command-parts.ts';
import { dimsOption, limitOption } from '../commands/common-options.ts';
import type { BenchFlags } from './bench-command.ts';

/** `weft bench`. Its code is loaded when it is called. */
export function addBenchCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('bench')
    .summary('time a program on devices')
    .description(
      'Runs the function main of a .weft, .onnx or .ir file on devices by turns, and says how long a run takes.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(inputsOption())
    .addOption(
      new Option('--device <DEVICE,...>', 'the devices, of auto, host, wasm, webgpu and browser')
        .argParser(deviceNames)
        .default(['auto'], 'auto'),
    )
    .addOption(
      new Option('--runs <N>', 'runs on each device, at most').argParser(parseCount).default(50),
    )
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--function <name>', 'the function to run; default: main')
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(limitOption())
    .addHelpText('after', HELP)
    .action((path: string, flags: BenchFlags) =>
      run(
        import('./bench-command.ts').then(({ benchProgramCommand }) =>
          benchProgramCommand(path, flags, terminal),
        ),
      ),
    );
}

const HELP = `
Examples:
  weft bench mnist.onnx
  weft bench mnist.onnx --device webgpu,wasm,browser --runs 200 --json
  weft bench bert.onnx --device wasm --threads 4 --dim batch=1 --dim sequence=128

A run begins with inputs and ends with outputs in the memory of this process. Those of a browser travel to it and back.`;
