import { type Command, InvalidArgumentError, Option } from 'commander';
import type { WeightBits } from '../../frontend/index.ts';
import { splitNames } from '../parse-options.ts';
import { parseCount } from '../parse-training.ts';
import { quantizeCommand } from '../quantize/quantize-command.ts';
import type { QuantizeFlags } from '../quantize/quantize-flags.ts';
import type { CommandParts } from './command-parts.ts';
import { dimsOption, limitOption } from './common-options.ts';

/** Adds the command `weft quantize`. */
export function addQuantizeCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('quantize')
    .summary('round the weights of a model')
    .description(
      'Writes an .onnx model with weights of 8 or 4 bits or in float16, or a .weft file of it, and says how far its values moved.',
    )
    .argument('<file>', 'an .onnx model')
    .requiredOption('-o, --output <file>', 'an .onnx or a .weft file')
    .addOption(
      new Option(
        '--bits <N>',
        'of the weights of MatMul and Gemm; 16: the model computes in float16',
      )
        .default(8)
        .argParser(parseBits),
    )
    .option(
      '--weights-only',
      'activations stay float where there are samples; with 16 bits the model computes in float32',
    )
    .addOption(
      new Option('--block <N>', 'elements that share a scale: a power of two from 16 up')
        .default(32)
        .argParser(parseCount),
    )
    .option('--symmetric', 'half of the range of codes stands for 0; default: zero points')
    .option('--keep <NAME,...>', 'nodes whose weights stay as they are', splitNames)
    .option(
      '--calibrate <DIR>',
      'samples of inputs, to calibrate activations with and to compare on; default: random inputs',
    )
    .addOption(
      new Option(
        '--cosine <N>',
        'the least cosine of outputs, for which layers stay float; default: docs/quantize.md',
      ).argParser(parseCosine),
    )
    .addOption(new Option('--samples <N>', 'random inputs').argParser(parseCount).default(8))
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--no-run', 'compare no outputs')
    .addOption(dimsOption())
    .addOption(limitOption())
    .addHelpText('after', HELP)
    .action((path: string, flags: QuantizeFlags) => run(quantizeCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft quantize model.onnx -o model-q8.onnx
  weft quantize model.onnx -o model-q4.onnx --bits 4 --block 32 --symmetric
  weft quantize model.onnx -o model.weft --calibrate samples
  weft quantize model.onnx -o model-f16.onnx --bits 16

A sample is a folder with a file for each input, NAME.npy, .pb or .json, or input_0.pb and so on.
What becomes of which operator, and what it costs: docs/quantize.md.`;

function parseBits(text: string): WeightBits {
  const bits = Number(text);
  if (bits === 4 || bits === 8 || bits === 16) return bits;
  throw new InvalidArgumentError('It has to be 4, 8 or 16.');
}

function parseCosine(text: string): number {
  const cosine = Number(text);
  if (cosine >= 0 && cosine <= 1) return cosine;
  throw new InvalidArgumentError('It has to be a number from 0 to 1.');
}
