import { fileUrl } from '../client/file-url.ts';
import { Session } from '../client/session.ts';
import type { SessionSource } from '../client/source.ts';
import { DownloadError, FormatError, UsageError } from '../core/errors.ts';
import { baseUrl } from '../core/parse-url.ts';
import { fileExists } from '../downloads/open-file.ts';
import { filesAt, type ReadFile } from '../text/model-folder.ts';
import type { TaskOptions } from './task-options.ts';

/**
 * Where a model is: the address of a folder as transformers.js has them, or of a `.weft` or `.onnx` file, in Node also a path; a
 * function that reads a file of the folder by its name; or the model itself.
 */
export type TaskSource = SessionSource | ReadFile;

/** The content of a file in JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A loaded model and the small files beside it. */
export interface TaskModel {
  /** Where it runs. */
  readonly session: Session;
  /** `config.json`, empty where there is none. */
  readonly config: JsonObject;
  /** `preprocessor_config.json`, undefined where there is none. */
  readonly preprocessor: JsonObject | undefined;
  /** Reads further files of the folder; undefined for one that is not there. */
  readonly read: ReadFile;
}

const CANDIDATES = [
  'model.weft',
  'onnx/model.onnx',
  'model.onnx',
  'onnx/model_fp16.onnx',
  'onnx/model_quantized.onnx',
  'onnx/model_q4f16.onnx',
];
const MODEL_FILE = /\.(weft|onnx)$/i;

/** Loads a model with its small files. Rejects as `Session.load` does, with FormatError for no JSON and UsageError for no model. */
export async function loadTaskModel(source: TaskSource, options: TaskOptions): Promise<TaskModel> {
  const { file, config, preprocessor, cache = true, ...place } = options;
  const { signal } = options;
  const { program, read } = await openSource(source, { file, cache, signal });
  const json = async (name: string): Promise<JsonObject | undefined> => {
    const bytes = await read(name, signal);
    return bytes && parsed(name, bytes);
  };
  // Small files come first: what they lack is said before weights are fetched.
  const [model, pictures] = await Promise.all([
    config ?? json('config.json'),
    preprocessor ?? json('preprocessor_config.json'),
  ]);
  // What is no address is here already.
  const isAddress = typeof program === 'string' || program instanceof URL;
  const session = await Session.load(program, { ...place, cache: cache && isAddress });
  return { session, config: model ?? {}, preprocessor: pictures, read };
}

/** Loads one of a task's models. */
export type LoadModel = (source: TaskSource, options: TaskOptions) => Promise<TaskModel>;

/** Makes a task of models. Where that fails, those that are loaded already are disposed of. */
export async function loadTask<Made>(make: (load: LoadModel) => Promise<Made>): Promise<Made> {
  const sessions: Session[] = [];
  try {
    return await make(async (source, options) => {
      const model = await loadTaskModel(source, options);
      sessions.push(model.session);
      return model;
    });
  } catch (error) {
    await Promise.all(sessions.map((session) => session.dispose()));
    throw error;
  }
}

interface OpenOptions {
  readonly file: string | undefined;
  readonly cache: boolean;
  readonly signal: AbortSignal | undefined;
}

interface OpenedSource {
  readonly program: SessionSource;
  readonly read: ReadFile;
}

async function openSource(source: TaskSource, options: OpenOptions): Promise<OpenedSource> {
  const { file, cache, signal } = options;
  if (typeof source === 'function') {
    const there = async (name: string) => (await source(name, signal)) !== undefined;
    const name = file ?? (await firstThat(there, 'folder of the model'));
    const program = await source(name, signal);
    if (program === undefined) throw noModel(name, name);
    return { program, read: source };
  }
  if (typeof source !== 'string' && !(source instanceof URL)) {
    return { program: source, read: async () => undefined };
  }
  const url = addressOf(source);
  if (file === undefined && MODEL_FILE.test(url.pathname)) {
    const own = new URL('./', url);
    const folder = own.pathname.endsWith('/onnx/') ? new URL('../', own) : own;
    return { program: url, read: filesAt(folder, { cache }) };
  }
  const folder = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/`, url);
  const exists = async (name: string) =>
    (await fileExists(new URL(name, folder).href, { cache, signal })) === true;
  const name = file ?? (await firstThat(exists, folder.href));
  return { program: new URL(name, folder), read: filesAt(folder, { cache }) };
}

/** An address; where there is no page, the path of a file too. */
function addressOf(source: string | URL): URL {
  const base = baseUrl();
  if (base === undefined && typeof source === 'string') return new URL(fileUrl(source));
  return new URL(source, base);
}

async function firstThat(
  exists: (name: string) => Promise<boolean>,
  where: string,
): Promise<string> {
  for (const name of CANDIDATES) if (await exists(name)) return name;
  throw noModel(where, `one of ${CANDIDATES.join(', ')}`);
}

function noModel(where: string, expected: string): UsageError {
  return new UsageError({
    where,
    got: 'none of the files that a model may be in',
    expected,
    remedy: 'Name the file of the model with the option file, or by its own address.',
  });
}

function parsed(name: string, bytes: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === 'object' && value !== null) return value as JsonObject;
  } catch (cause) {
    throw new FormatError({ where: name, got: 'no JSON', expected: 'an object' }, { cause });
  }
  throw new FormatError({ where: name, got: 'no object', expected: 'an object in JSON' });
}

/** The names of a model's classes in `config.json`, in order; undefined where it has none. */
export function labelsOf(config: JsonObject): readonly string[] | undefined {
  const names = config['id2label'];
  if (typeof names !== 'object' || names === null) return undefined;
  const entries = Object.entries(names).toSorted(([a], [b]) => Number(a) - Number(b));
  const gap = entries.findIndex(([id], i) => Number(id) !== i);
  if (gap < 0) return entries.map(([, name]) => String(name));
  throw new FormatError({
    where: 'config.json, id2label',
    got: `the class ${entries[gap]?.[0]} in place ${gap}`,
    expected: 'a name for each class from 0 up',
  });
}

/** The bytes of a further file. Rejects with DownloadError where it is not there. */
export async function readNeeded(
  read: ReadFile,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const bytes = await read(name, signal);
  if (bytes !== undefined) return bytes;
  throw new DownloadError({ where: name, got: 'no such file', expected: 'it beside the model' });
}
