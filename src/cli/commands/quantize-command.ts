import { type Command, InvalidArgumentError, Option } from 'commander';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import type { QuantizedOnnx } from '../../frontend/index.ts';
import type { WeightBits } from '../../frontend/quantize/quantize-options.ts';
import type { KeptNode } from '../../frontend/quantize/quantized-layer.ts';
import { formatBytes } from '../format-bytes.ts';
import { splitNames } from '../parse-options.ts';
import { parseCount } from '../parse-training.ts';
import {
  type Calibration,
  measureQuantized,
  type Measured,
  readPieces,
} from '../quantize/measure-quantized.ts';
import { type QuantizeFlags, dataFileOf } from '../quantize/quantize-flags.ts';
import type { ValueError } from '../quantize/value-error.ts';
import { readBytes, siblingReader } from '../files/read-file.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { writeExecutable } from '../files/write-executable.ts';
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

/**
 * `weft quantize`: an ONNX model with rounded weights, and how far its values are from those before. 1 where the outputs
 * could not be compared.
 */
async function quantizeCommand(
  path: string,
  flags: QuantizeFlags,
  terminal: Terminal,
): Promise<number> {
  const bytes = await readBytes(path);
  checkLooksLikeOnnx(bytes, path);
  const { output, bits, block, symmetric, weightsOnly } = flags;
  const rounding = { bits, block, symmetric, weightsOnly };
  const progress = new ProgressLine(terminal);
  const dataFile = dataFileOf(output);
  const { compileOnnx, quantizeOnnx } = await import('../../frontend/index.ts');
  const quantize = (keep: readonly string[], found?: Calibration): QuantizedOnnx =>
    quantizeOnnx(bytes, {
      ...rounding,
      keep,
      ...found,
      dataFile,
      externalData: siblingReader(path),
    });
  let measured: Measured;
  try {
    const model = { path, bytes, quantize };
    measured = await measureQuantized(model, flags, (text) => progress.show(text));
  } finally {
    progress.clear();
  }
  const { quantized } = measured;
  await mkdir(dirname(output), { recursive: true });
  const isCompiled = output.endsWith('.weft');
  const byteLength = isCompiled
    ? await writeExecutable(
        compileOnnx(quantized.model, {
          dims: flags.dim,
          compileLimits: flags.limit,
          externalData: readPieces({ [dataFile]: quantized.data }),
        }),
        output,
      )
    : await writePieces(output, [quantized.model]);
  if (!isCompiled && quantized.data.length > 0) {
    await writePieces(join(dirname(output), dataFile), quantized.data);
  }
  const sizes = `${output}: ${formatBytes(byteLength)}, ${path} has ${formatBytes(bytes.byteLength)}\n`;
  if (flags.json === true) {
    const { model: _, data: __, ...found } = quantized;
    const { values, ...rest } = measured;
    const report = { ...found, ...rest, quantized: undefined, values: Object.fromEntries(values) };
    terminal.out(`${JSON.stringify(report, undefined, 2)}\n`);
  } else terminal.out(`${describeReport(measured)}${sizes}`);
  return measured.failure === undefined ? 0 : 1;
}

/** Writes a file. Resolves to its length in bytes. */
async function writePieces(path: string, pieces: readonly Uint8Array[]): Promise<number> {
  const file = await open(path, 'w');
  let byteLength = 0;
  try {
    for (const piece of pieces) {
      await file.writeFile(piece);
      byteLength += piece.byteLength;
    }
    return byteLength;
  } finally {
    await file.close();
  }
}

/**
 * The report of a quantisation, in lines: the rounded layers, and the errors of weights, layers and
 * outputs.
 */
function describeReport(measured: Measured): string {
  const { quantized, values, ranOn, keptFor, wanted, failure } = measured;
  if (quantized.wasQuantized.length > 0) {
    const operators = quantized.wasQuantized.join(', ');
    return `the model is quantised already (${operators}): it is passed through as it is\n`;
  }
  const lines = quantized.layers.map(
    ({ node, operator, becomes, weightError, output, isSampled }) => {
      const value = values.get(output);
      const error = value === undefined ? '' : `, its output by ${describeError(value)}`;
      const alone = isSampled === false ? '; no sample reaches it, rounded to the nearest' : '';
      return `${node} (${operator}): ${becomes}; weights moved by ${percent(weightError)}${error}${alone}`;
    },
  );
  if (measured.rounded.length > 0) {
    lines.push(`rounded to uint8: ${measured.rounded.join(', ')}`);
  }
  if (measured.floatValues.length > 0) {
    const why = `outputs would have a cosine below ${wanted}`;
    lines.push(`not rounded to uint8, ${why}: ${measured.floatValues.join(', ')}`);
  }
  lines.push(...describeKept(quantized.kept, keptFor, wanted));
  const others = Object.entries(quantized.others).map(([name, count]) => `${count} ${name}`);
  if (others.length > 0) lines.push(`no weights of their own: ${others.join(', ')}`);
  if (failure !== undefined) {
    lines.push(`the outputs could not be compared: ${failure}`, NOT_COMPARED);
  } else if (ranOn !== '') {
    lines.push(`on ${ranOn}, beside the float model:`);
    for (const name of quantized.outputs) {
      const value = values.get(name);
      if (value !== undefined) lines.push(`  output ${name}: ${describeOutput(value)}`);
    }
    lines.push(`the cosine of each output is at least ${wanted}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

const NOT_COMPARED =
  'Give inputs with --calibrate, sizes with --dim, or compare no outputs with --no-run.';

/** A line for each reason of each operator. */
function describeKept(
  kept: readonly KeptNode[],
  keptFor: readonly string[],
  wanted: number,
): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { node, operator, reason } of kept) {
    const isForOutputs = keptFor.includes(node);
    const why = isForOutputs ? `outputs would have a cosine below ${wanted}` : reason;
    const key = `stays float: ${operator}, ${why}`;
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups].map(([key, nodes]) => `${key}: ${nodes.join(', ')}`);
}

function describeError({ cosine, relativeError }: ValueError): string {
  return `${percent(relativeError)} (cosine ${cosine.toFixed(6)})`;
}

function describeOutput({ cosine, worstCosine, largestError, sameTop }: ValueError): string {
  const top = sameTop === undefined ? '' : `, the same largest in ${percent(sameTop)} of rows`;
  return (
    `cosine ${cosine.toFixed(6)}, at worst ${worstCosine.toFixed(6)}; ` +
    `off by at most ${percent(largestError)} of its range${top}`
  );
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))}%`;
