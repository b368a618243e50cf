import { UnsupportedError } from '../../core/errors.ts';
import { ARCHITECTURES } from '../../frontend/decoders/architectures/architectures.ts';
import { readGguf } from '../../frontend/decoders/files/gguf.ts';
import type { GgufMetadata } from '../../frontend/decoders/files/gguf-metadata.ts';
import { readHeadOf } from '../../frontend/decoders/files/read-head.ts';
import type { FileWindow } from '../../core/bytes/file-window.ts';
import { countNames, type ModelHead } from './model-head.ts';

/** A language model in a GGUF file: its table of tensors stands before their elements. */
export async function openDecoderHead(file: FileWindow): Promise<ModelHead> {
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
