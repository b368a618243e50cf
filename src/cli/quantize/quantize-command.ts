import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import type { QuantizedOnnx } from '../../frontend/index.ts';
import { formatBytes } from '../format-bytes.ts';
import { readBytes, siblingReader } from '../read-file.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { writeExecutable } from '../write-executable.ts';
import { describeReport } from './describe-report.ts';
import { type Calibration, measureQuantized, type Measured } from './measure-quantized.ts';
import { dataFileOf, type QuantizeFlags } from './quantize-flags.ts';
import { readPieces } from './read-pieces.ts';

/**
 * `weft quantize`: an ONNX model with rounded weights, and how far its values are from those before. 1 where the outputs
 * could not be compared.
 */
export async function quantizeCommand(
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
