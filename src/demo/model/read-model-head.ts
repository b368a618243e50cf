import { MAGIC } from '../../bytecode/file/file-format.ts';
import { ExecutableReader } from '../../bytecode/file/executable-reader.ts';
import type { ValueType } from '../../bytecode/executable.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { refuseOtherFile } from '../../core/bytes/sniff.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import { EXPECTED_MODEL } from '../../frontend/onnx/protobuf/fields-of.ts';
import { openDecoderHead } from './open-decoder-head.ts';
import { programWork } from '../../worker/auto/program-work.ts';
import { FileWindow, type ReadRange } from '../../core/bytes/file-window.ts';
import { countNames, type ModelHead, type ModelWork } from './model-head.ts';
import { readOnnxHead } from './read-onnx-head.ts';

const GGUF = 'GGUF';

/** A file of which parts can be read. */
export interface HeadSource {
  readonly byteLength: number;
  readonly read: ReadRange;
}

/** Reads the head of a model's file, of whichever format; the first bytes tell. */
export async function readModelHead({ byteLength, read }: HeadSource): Promise<ModelHead> {
  const file = new FileWindow(read, byteLength);
  const first = await file.bytes(0, MAGIC.byteLength);
  if (MAGIC.every((byte, i) => first[i] === byte)) return readExecutableHead(file);
  if (new TextDecoder().decode(first.subarray(0, GGUF.length)) === GGUF)
    return openDecoderHead(file);
  const head = await file.bytes(0, Math.min(byteLength, 256));
  refuseOtherFile(head, { where: 'model', expected: EXPECTED_MODEL });
  return readOnnxHead(file);
}

/** The program stands before its constants. */
async function readExecutableHead(file: FileWindow): Promise<ModelHead> {
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const bytes = await file.bytes(at, at + 2 ** 14);
      at += bytes.byteLength;
      if (bytes.byteLength === 0) controller.close();
      else controller.enqueue(bytes.slice());
    },
  });
  const { executable } = await ExecutableReader.open(stream, { byteLength: file.byteLength });
  await stream.cancel().catch(() => undefined);
  const main = executable.functions.find(({ name }) => name === 'main') ?? executable.functions[0];
  const { params = [], results = [] } = main?.signature ?? {};
  const bodies = executable.primitives.flatMap(({ body }) => body.map(({ op }) => op));
  return {
    format: 'weft',
    byteLength: file.byteLength,
    readByteLength: file.readByteLength,
    weightByteLength: executable.dataByteLength,
    inputs: params.map((type, i) => `${main?.paramNames[i] ?? i}: ${describeType(type)}`),
    outputs: results.map(({ name, type }) => `${name}: ${describeType(type)}`),
    operators: countNames(bodies),
    refusal: undefined,
    work: workOf(executable),
  };
}

function workOf(executable: ExecutableReader['executable']): ModelWork | undefined {
  try {
    const work = programWork(executable, KERNEL_OPS);
    if (work === undefined) return undefined;
    const all = [...work.launches, ...work.onHost];
    return {
      per: 'run',
      launches: all.reduce((sum, { count }) => sum + count, 0),
      operations: all.reduce((sum, { count, operations }) => sum + count * operations, 0),
      bytes: all.reduce((sum, { count, bytes }) => sum + count * bytes, 0),
    };
  } catch (error) {
    if (error instanceof UnsupportedError) return undefined;
    throw error;
  }
}

function describeType(type: ValueType): string {
  return type.kind === 'tensor'
    ? `${type.dtype} [${type.shape.map(formatDim).join(', ')}]`
    : type.kind;
}
