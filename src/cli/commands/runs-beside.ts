import { type Command, Option } from 'commander';
import { inputsOption, positiveNumber, threadsOption } from '../parse-options.ts';
import { parseCount } from '../parse-training.ts';
import { deviceOption, dimsOption, limitOption } from './common-options.ts';

/**
 * Adds the argument and the options of commands that run a function beside something else.
 * `tolerance` is the default, in words; `devices` are those beside the ones of this process.
 */
export function runsBeside(
  command: Command,
  tolerance: string,
  devices: readonly string[] = [],
): Command {
  return command
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(inputsOption())
    .addOption(
      new Option('--tolerance <SHARE>', `of the range of a value; default: ${tolerance}`).argParser(
        positiveNumber,
      ),
    )
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--function <name>', 'the function to run; default: main')
    .addOption(deviceOption('the device to run on', devices))
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(limitOption());
}
