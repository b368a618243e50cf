import type { JsonObject, ModelFolder } from '../gguf-folder.ts';
import { requireBytes } from '../../../core/check-options.ts';
import { DownloadError, UsageError } from '../../../core/errors.ts';
import { parseJsonObject } from '../../../core/bytes/sniff.ts';
import { fileExists, openFile, type OpenFileOptions } from '../../../downloads/open-file.ts';
import { readWhole } from '../../../downloads/range-file.ts';

/** Reads a file by its name; undefined where there is none. */
export type ReadFile = (name: string, signal?: AbortSignal) => Promise<Uint8Array | undefined>;

/** A reader of the caller's: null is as good as undefined. Rejects with UsageError where it gives anything but bytes. */
export const checkedReader =
  (read: ReadFile): ReadFile =>
  async (name, signal) => {
    const bytes = (await read(name, signal)) ?? undefined;
    if (bytes !== undefined) requireBytes(`the function that reads files, ${name}`, bytes);
    return bytes;
  };

/**
 * A reader of files that may be missing, as servers say it in many ways: whatever keeps a file from being read
 * goes to `failures`, and it counts as missing. Only an abort rejects, and a file with another hash than was asked for.
 */
export const optionalReader =
  (read: ReadFile, failures: unknown[] = []): ReadFile =>
  async (name, signal) => {
    try {
      return await read(name, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UsageError) throw error;
      if (error instanceof DownloadError && error.details['integrity'] !== undefined) throw error;
      failures.push(error);
      return undefined;
    }
  };

/** Reads the files at once. Rejects with DownloadError for one that has to be there, FormatError for no JSON. */
export async function readModelFolder(read: ReadFile): Promise<ModelFolder> {
  const optional = optionalReader(read);
  const json = async (name: string, isOptional = false): Promise<JsonObject> => {
    const bytes = await (isOptional ? optional : read)(name);
    if (bytes !== undefined) return parseJsonObject(name, bytes);
    if (isOptional) return {};
    throw new DownloadError({
      where: name,
      got: 'no such file',
      expected: 'a folder with config.json, tokenizer.json and the model',
    });
  };
  const [config, tokenizer, generation, tokenizerConfig, template] = await Promise.all([
    json('config.json'),
    json('tokenizer.json'),
    json('generation_config.json', true),
    json('tokenizer_config.json', true),
    optional('chat_template.jinja'),
  ]);
  const chatTemplate = template && new TextDecoder().decode(template);
  return { config, tokenizer, generation, tokenizerConfig, chatTemplate };
}

export type FolderOptions = Pick<OpenFileOptions, 'cache'> & {
  /** Hashes that files must have, by their names in the folder. */
  readonly integrity?: Readonly<Record<string, string>> | undefined;
};

/** Reads files of a folder by its address; they are kept as `openFile` says. */
export const filesAt =
  (folder: URL, { cache, integrity = {} }: FolderOptions = {}): ReadFile =>
  async (name, signal) => {
    const url = new URL(name, folder).href;
    const file = await openFile(url, { cache, integrity: integrity[name], signal });
    return file && readWhole(file);
  };

/**
 * Says whether a folder has a file; undefined where the server does not answer, or refuses, as some do for a file that they
 * do not have. What it refuses with goes to `failures`.
 */
export const filesIn =
  (
    folder: URL,
    { cache, signal }: Pick<OpenFileOptions, 'cache' | 'signal'>,
    failures: unknown[],
  ) =>
  async (name: string): Promise<boolean | undefined> => {
    try {
      return await fileExists(new URL(name, folder).href, { cache, signal });
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      failures.push(error);
      return undefined;
    }
  };

/** A number of a file, or undefined. */
export function numberOf(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

/** Numbers of a file that has one or a list of them. */
export function numbersOf(object: JsonObject, key: string): number[] {
  const value = object[key];
  return [value].flat().filter((item) => typeof item === 'number');
}

/** Models that are known and not read, by a file of their folders, and the ends of its name. */
const UNREAD: readonly (readonly [name: string, what: string])[] = [
  ['genai_config.json', 'a model of onnxruntime-genai'],
  ['onnx/embed_tokens', 'a model in parts that embeds tokens in one of its own'],
  ['onnx/decoder_model_merged', 'a merged decoder, for first and later steps'],
  ['decoder_model_merged', 'a merged decoder, for first and later steps'],
  ['pytorch_model.bin', 'weights of PyTorch'],
];
const ENDS = ['.onnx', '_quantized.onnx', '_fp16.onnx', '_q4.onnx', '_q4f16.onnx'];
const FILES = UNREAD.flatMap(([name, what]) =>
  (name.includes('.') ? [''] : ENDS).map((end) => [name + end, what] as const),
);

interface Folder {
  readonly where: string;
  readonly names: readonly string[];
  readonly exists: (name: string) => Promise<boolean | undefined>;
  readonly advice?: string | undefined;
  /** What the server refused with, if it did. */
  readonly cause?: unknown;
}

/** The error of a folder without any of some files; it names a model that is known and not read. */
export async function noModel(folder: Folder): Promise<UsageError> {
  const { where, names, exists, advice, cause } = folder;
  const expected = names.length === 1 ? (names[0] ?? '') : `one of ${names.join(', ')}`;
  for (const [name, what] of FILES) {
    if ((await exists(name)) !== true) continue;
    return new UsageError({ where, got: `${what} (${name}), which is not read`, expected });
  }
  const refused = cause instanceof Error ? ` (${cause.message})` : '';
  const got = `none of the files that a model may be in${refused}`;
  const plain = 'Name the file of the model with the option file, or by its own address.';
  return new UsageError({ where, got, expected, remedy: advice ?? plain }, { cause });
}
