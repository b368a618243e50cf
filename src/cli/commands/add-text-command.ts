import { type Command, Option } from 'commander';
import { type TextFlags, textCommand } from '../text-command.ts';
import { CACHE_TYPES } from '../../core/text-layout.ts';
import { QUANTIZATIONS } from '../../frontend/decoders/weight-quantizer.ts';
import { parseCount } from '../parse-training.ts';
import type { CommandParts } from './command-parts.ts';
import { limitOption } from './common-options.ts';

/** Adds the command `weft text`. */
export function addTextCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('text')
    .summary('write the program that generates text with a model')
    .description(
      'Writes an executable that generates text with a language model: the model, its caches and the drawing of tokens as one program.',
    )
    .argument(
      '<file>',
      'an .onnx model with past_key_values, a .gguf file, or .safetensors with config.json beside it',
    )
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .addOption(limitOption())
    .addOption(
      new Option('--context <N>', 'positions to reach, of .gguf and .safetensors').argParser(
        parseCount,
      ),
    )
    .addOption(
      new Option('--quantize <format>', 'round weights to blocks of 8 or 4 bits').choices(
        QUANTIZATIONS,
      ),
    )
    .addOption(
      new Option(
        '--cache-type <type>',
        'what caches of keys and values hold; default: what the model says',
      ).choices(CACHE_TYPES),
    )
    .addHelpText('after', HELP)
    .action((path: string, flags: TextFlags) => run(textCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft text stories/onnx/model_fp16.onnx -o stories/model.weft
  weft text llama.gguf -o llama/model.weft
  weft text qwen/model.safetensors -o qwen/model.weft --context 4096 --quantize q4_0
  weft text qwen/model.safetensors -o qwen/model.weft --cache-type float16

TextModel of weft-vm/text loads the folder, with config.json and tokenizer.json beside the executable (of .gguf they
are written): docs/text.md.`;
