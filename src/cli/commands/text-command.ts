import { type Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Module } from '../../compiler/index.ts';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { CACHE_TYPES, type CacheType } from '../../core/text-layout.ts';
import { folderFiles } from '../../frontend/decoders/gguf-folder.ts';
import { openModelFile } from '../../frontend/decoders/open-model-file.ts';
import {
  QUANTIZATIONS,
  type Quantization,
  type WeightQuantizer,
} from '../../frontend/decoders/weight-quantizer.ts';
import { formatBytes } from '../format-bytes.ts';
import { parseCount } from '../parse-training.ts';
import { readBytes, siblingReader } from '../files/read-file.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { writeExecutable } from '../files/write-executable.ts';
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

interface TextFlags {
  readonly output: string;
  readonly context?: number | undefined;
  readonly limit?: CompileLimits | undefined;
  readonly quantize?: Quantization | undefined;
  readonly cacheType?: CacheType | undefined;
  readonly json?: boolean | undefined;
}

/** `weft text`: a language model to an executable that generates text. */
async function textCommand(
  path: string,
  { output, context, limit, quantize, cacheType, json }: TextFlags,
  terminal: Terminal,
): Promise<number> {
  const { compile } = await import('../../frontend/index.ts');
  const folder = dirname(output);
  const { WeightQuantizer } = await import('../../frontend/decoders/weight-quantizer.ts');
  const quantizer = quantize && new WeightQuantizer(quantize);
  const { module, files } = await openModel(path, {
    context,
    limit,
    folder,
    quantizer,
    cacheType,
  });
  await mkdir(folder, { recursive: true });
  const progress = new ProgressLine(terminal);
  const executable = compile(module, {
    compileLimits: limit,
    onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
  });
  const byteLength = await writeExecutable(executable, output, {
    onBytes: (done, total) =>
      progress.show(`writing: ${formatBytes(done)} of ${formatBytes(total)}`),
  });
  progress.clear();
  const { primitives, dataByteLength } = executable;
  if (json === true) {
    const written: string[] = [];
    for (const [name, text] of files) {
      const file = join(folder, name);
      if (!existsSync(file)) written.push(file);
      await writeMissing(file, text, path);
    }
    const [kernels, weightBytes] = [primitives.length, dataByteLength];
    const report = quantizer?.report;
    writeJson(terminal, 'text', {
      output,
      byteLength,
      kernels,
      weightBytes,
      written,
      quantized: report,
    });
    return 0;
  }
  terminal.out(
    `${output}: ${formatBytes(byteLength)}, ${primitives.length} kernel(s), ` +
      `${formatBytes(dataByteLength)} of weights\n`,
  );
  if (quantizer) terminal.out(reportOf(quantizer));
  for (const [name, text] of files)
    terminal.out(await writeMissing(join(folder, name), text, path));
  return 0;
}

/** How far rounding moved the weights. */
function reportOf({ format, report }: WeightQuantizer): string {
  const { matrices, error, worst, kept } = report;
  const percent = (part: number): string => `${(100 * part).toFixed(2)}%`;
  const told =
    matrices === 0
      ? 'no matrix'
      : `${matrices} ${matrices === 1 ? 'matrix' : 'matrices'}, moved by ${percent(error)}, at most ${percent(worst.error)} (${worst.name})`;
  const others = kept.length === 0 ? '' : `; not rounded: ${kept.join(', ')}`;
  return `${format}: ${told}${others}\n`;
}

/** Writes a small file that is not there yet, and says so. */
async function writeMissing(file: string, text: string, path: string): Promise<string> {
  if (existsSync(file)) return `${file}: left as it was\n`;
  await writeFile(file, text);
  return `${file}: ${formatBytes(Buffer.byteLength(text))}, as ${basename(path)} says\n`;
}

interface OpenedModel {
  readonly module: Module;
  /** Contents of the small files to write beside the executable, by name. */
  readonly files: ReadonlyMap<string, string>;
}

interface OpenModelOptions extends Pick<TextFlags, 'context' | 'limit' | 'cacheType'> {
  /** The folder to which the executable is to be written. */
  readonly folder: string;
  readonly quantizer: WeightQuantizer | undefined;
}

/** The program, of whichever kind the file is, and the small files that a GGUF file makes unnecessary. */
async function openModel(
  path: string,
  { context, limit, folder, quantizer, cacheType }: OpenModelOptions,
): Promise<OpenedModel> {
  const [{ generationModule }, { quantizedTextModule }, { withReport }, { withCachesOf }] =
    await Promise.all([
      import('../../frontend/decoders/generation-module.ts'),
      import('../../frontend/decoders/text-module.ts'),
      import('../../frontend/decoders/quantize-decoder.ts'),
      import('../../frontend/decoders/cache-type.ts'),
    ]);
  const read = siblingReader(path);
  if (!/\.(gguf|safetensors|safetensors\.index\.json)$/i.test(path)) {
    const bytes = await readBytes(path);
    checkLooksLikeOnnx(bytes, path);
    const options = { compileLimits: limit, externalData: read, quantizer, cacheType };
    const module = quantizedTextModule(bytes, options);
    return { module, files: new Map() };
  }
  const files = {
    read: (name: string, begin: number, end: number) =>
      Promise.resolve(read(name, { byteOffset: begin, byteLength: end - begin })),
  };
  const file = await openModelFile(basename(path), files, { contextLength: context });
  // Before the weights, since it may refuse. A tokenizer of the user's own takes its place.
  const isThere = (name: string): boolean => existsSync(join(folder, name));
  const isWhole = isThere('tokenizer.json') && isThere('config.json');
  const small = isWhole ? undefined : file.folder();
  const beside = small ? folderFiles(small) : isWhole ? kept(path) : new Map<string, string>();
  const module = generationModule(withCachesOf(await file.load(quantizer), cacheType));
  return { module: quantizer ? withReport(module, quantizer) : module, files: beside };
}

/** Files of the user's to be named, where GGUF would have given others. */
function kept(path: string): ReadonlyMap<string, string> {
  const names = /\.gguf$/i.test(path) ? ['config.json', 'tokenizer.json'] : [];
  return new Map(names.map((name) => [name, '']));
}
