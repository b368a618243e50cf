import { DownloadError, FormatError } from '../core/errors.ts';
import { openFile, type OpenFileOptions } from '../downloads/open-file.ts';
import { readWhole } from '../downloads/range-file.ts';

/** The small files of a model's folder, as transformers.js has them. */
export interface ModelFolder {
  readonly config: JsonObject;
  readonly generation: JsonObject;
  readonly tokenizer: JsonObject;
  readonly tokenizerConfig: JsonObject;
  /** The text of `chat_template.jinja`. */
  readonly chatTemplate: string | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads a file by its name; undefined where there is none. */
export type ReadFile = (name: string, signal?: AbortSignal) => Promise<Uint8Array | undefined>;

/** Reads the files at once. Rejects with DownloadError for one that has to be there, FormatError for no JSON. */
export async function readModelFolder(
  read: ReadFile,
  signal: AbortSignal | undefined,
): Promise<ModelFolder> {
  const json = async (name: string, isOptional = false): Promise<JsonObject> => {
    const bytes = await read(name, signal);
    if (bytes !== undefined) return parse(name, bytes);
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
    read('chat_template.jinja', signal),
  ]);
  const chatTemplate = template && new TextDecoder().decode(template);
  return { config, tokenizer, generation, tokenizerConfig, chatTemplate };
}

/** How files of a folder are read. */
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

function parse(name: string, bytes: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as JsonObject;
    }
  } catch (cause) {
    throw new FormatError(
      { where: name, got: 'no JSON', expected: 'an object in JSON' },
      { cause },
    );
  }
  throw new FormatError({ where: name, got: 'no object', expected: 'an object in JSON' });
}

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
