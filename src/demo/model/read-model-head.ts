import type { ValueType } from '../../bytecode/executable.ts';
import { ExecutableReader } from '../../bytecode/file/executable-reader.ts';
import { MAGIC } from '../../bytecode/file/file-format.ts';
import { FileWindow, type ReadRange } from '../../core/bytes/file-window.ts';
import { otherFormat, refuseOtherFile } from '../../core/bytes/sniff.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { ARCHITECTURES } from '../../frontend/decoders/architectures/architectures.ts';
import type { GgufMetadata } from '../../frontend/decoders/files/gguf-metadata.ts';
import { readGguf } from '../../frontend/decoders/files/gguf.ts';
import { readHeadOf } from '../../frontend/decoders/files/read-head.ts';
import { EXPECTED_MODEL } from '../../frontend/onnx/protobuf/fields-of.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import { programWork } from '../../worker/auto/program-work.ts';
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
  if (otherFormat(head) === 'tflite') {
    return (await import('./read-lite-head.ts')).readLiteHead(file);
  }
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

/** A language model in a GGUF file: its table of tensors stands before their elements. */
async function openDecoderHead(file: FileWindow): Promise<ModelHead> {
  const head = await readHeadOf(
    'the file',
    (begin, end) => file.bytes(begin, end),
    (bytes) => readGguf(bytes, { fileByteLength: file.byteLength }),
  );
  const tensors = [...head.tensors.values()];
  const weightByteLength = tensors.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
  const elements = tensors.reduce(
    (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
    0,
  );
  const name = head.metadata.string('general.architecture') ?? 'unknown';
  const layers = head.metadata.number(`${name}.block_count`) ?? 1;
  return {
    format: 'gguf',
    byteLength: file.byteLength,
    readByteLength: file.readByteLength,
    weightByteLength,
    inputs: [`text, of ${name} with ${layers} layers`],
    outputs: ['text'],
    operators: countNames(tensors.map(({ type }) => type)),
    refusal: refusalOf(head.metadata, tensors),
    // Each token reads all weights once; a layer is some ten launches.
    work: {
      per: 'token',
      launches: 10 * layers,
      operations: 2 * elements,
      bytes: weightByteLength,
    },
  };
}

function refusalOf(
  metadata: GgufMetadata,
  tensors: readonly {
    readonly name: string;
    readonly type: string;
    readonly byteLength: number | undefined;
  }[],
): string | undefined {
  const count = metadata.number('split.count') ?? 1;
  if (count > 1) {
    return new UnsupportedError({
      where: 'split.count',
      got: `one of ${count} files of a model`,
      expected: 'a model in one file',
      remedy:
        'Load the first by its address with TextModel.load, or join them: llama-gguf-split --merge FIRST JOINED.',
    }).message;
  }
  const name = metadata.string('general.architecture') ?? 'unknown';
  const known = ARCHITECTURES.map((architecture) => architecture.name);
  if (!known.includes(name)) {
    return new UnsupportedError({
      where: 'general.architecture',
      got: name,
      expected: known.join(', '),
    }).message;
  }
  const strange = tensors.find(({ byteLength }) => byteLength === undefined);
  return strange && `The tensor ${strange.name} is of ${strange.type}, which Weft does not read.`;
}
