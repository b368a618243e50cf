import { FormatError, UsageError } from '../../core/errors.ts';
import { openGguf, openTransformers, type OpenOptions } from './architectures/open-decoder.ts';
import type { DecoderFile } from './architectures/decoder-file.ts';
import type { Decoder } from './generation-module.ts';
import type { WeightQuantizer } from './weight-quantizer.ts';
import type { BytesNeeded } from './files/bytes-needed.ts';
import { readGgufParts } from './files/gguf-parts.ts';
import { readHeadOf } from './files/read-head.ts';
import { joinSafetensors, readSafetensorsIndex } from './files/safetensors-index.ts';
import { readSafetensors } from './files/safetensors.ts';
import type { StoredTensor } from './files/stored-tensor.ts';
import { ggufFolder, type ModelFolder } from './gguf-folder.ts';

/** Reads parts of the files of a model, by their names in its folder. */
export interface ModelFiles {
  /** Bytes of a file from one on; fewer at its end. Undefined where there is no such file. */
  read(name: string, begin: number, end: number): Promise<Uint8Array | undefined>;
}

/** A decoder whose head is read, and how its weights are. */
interface ModelFile {
  readonly decoder: DecoderFile;
  /**
   * The small files to write beside the executable, as far as the model file has them: GGUF has
   * tokenizer, chat template and the rest. Throws as `ggufTokenizer` does.
   */
  folder(): ModelFolder | undefined;
  /** Reads all weights, for `generationModule`, and rounds them if a quantizer is given. */
  load(quantizer?: WeightQuantizer): Promise<Decoder>;
}

const MAX_TEXT_BYTES = 2 ** 26;

/**
 * Opens a GGUF file, by the first where a model is in several, a safetensors file with
 * `config.json` beside it, or several of them by their `model.safetensors.index.json`. Throws for
 * what Weft lacks before any weight is read, as `openGguf` and `openTransformers` do.
 */
export async function openModelFile(
  name: string,
  files: ModelFiles,
  options: OpenOptions = {},
): Promise<ModelFile> {
  if (/\.gguf$/i.test(name)) {
    const head = await readGgufParts(name, (...range) => files.read(...range));
    const decoder = openGguf(head, options);
    return { ...fileOf(decoder, files, name), folder: () => ggufFolder(head.metadata, decoder) };
  }
  const slash = name.lastIndexOf('/') + 1;
  const at = (other: string): string => name.slice(0, slash) + other;
  const config = await textOf(at('config.json'), files);
  const tensors = /\.index\.json$/i.test(name)
    ? await shards(name, files, at)
    : (await readHead(name, files, (bytes) => readSafetensors(bytes, { name }))).tensors;
  return fileOf(openTransformers(config, tensors, options), files, name, at);
}

function fileOf(
  decoder: DecoderFile,
  files: ModelFiles,
  name: string,
  at: (other: string) => string = (other) => other,
): ModelFile {
  const read = async ({ file, byteOffset, byteLength = 0, name: tensor }: StoredTensor) => {
    const path = file === undefined ? name : at(file);
    const bytes = await files.read(path, byteOffset, byteOffset + byteLength);
    if (bytes?.byteLength === byteLength) return bytes;
    const got = bytes === undefined ? 'no such file' : `${bytes.byteLength} bytes of ${tensor}`;
    throw new FormatError({ where: path, got, expected: `${byteLength} bytes` });
  };
  return { decoder, load: (quantizer) => decoder.load(read, quantizer), folder: () => undefined };
}

async function shards(name: string, files: ModelFiles, at: (other: string) => string) {
  const index = readSafetensorsIndex(await textOf(name, files));
  const heads = new Map<string, Awaited<ReturnType<typeof headOf>>>();
  const headOf = (file: string) =>
    readHead(at(file), files, (bytes) => readSafetensors(bytes, { name: file }));
  for (const file of index.files) heads.set(file, await headOf(file));
  return joinSafetensors(index, heads);
}

const readHead = <Head extends { readonly kind: string }>(
  name: string,
  files: ModelFiles,
  parse: (bytes: Uint8Array) => Head | BytesNeeded,
): Promise<Head> => readHeadOf(name, (begin, end) => files.read(name, begin, end), parse);

async function textOf(name: string, files: ModelFiles): Promise<string> {
  const bytes = await files.read(name, 0, MAX_TEXT_BYTES);
  if (bytes === undefined) throw missing(name);
  return new TextDecoder().decode(bytes);
}

function missing(name: string): UsageError {
  return new UsageError({ where: name, got: 'no such file', expected: 'a file of the model' });
}
