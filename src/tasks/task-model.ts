import { addressOf, folderAround, folderAt } from '../client/start/file-url.ts';
import { checkOptions } from '../core/check-options.ts';
import { Session } from '../client/session.ts';
import type { SessionSource } from '../client/source.ts';
import { FormatError } from '../core/errors.ts';
import { requireImport } from '../core/require-import.ts';
import { parseJsonObject } from '../core/bytes/sniff.ts';
import { hubAdvice } from '../core/parse-url.ts';
import {
  checkedReader,
  filesAt,
  filesIn,
  noModel,
  optionalReader,
  type ReadFile,
} from '../frontend/decoders/reader/model-folder.ts';
import { TASK_OPTIONS, type TaskOptions } from './task-options.ts';
import type { TaskTokenizer, TokenizerOptions } from './task-tokenizer.ts';

/**
 * Where a model is: the address of a folder as transformers.js has them, or of a `.weft`, `.onnx` or `.tflite` file, in Node also a path; a
 * function that reads a file of the folder by its name; or the model itself.
 */
export type TaskSource = SessionSource | ReadFile;

/** A folder with several models: its address, or a function that reads a file of it by its name. */
export type TaskFolder = string | URL | ReadFile;

export type JsonObject = Readonly<Record<string, unknown>>;

/** A loaded model and the small files beside it. */
export interface TaskModel {
  /** The session in which the model runs. */
  readonly session: Session;
  /** `config.json`, empty where there is none. */
  readonly config: JsonObject;
  /** `preprocessor_config.json`, undefined where there is none. */
  readonly preprocessor: JsonObject | undefined;
  /** Reads further files of the folder; undefined for one that is not there. */
  readonly read: ReadFile;
}

/** Files that a model may be in, the best first, by the name that exporters give it. */
export const filesOf = (name: string): readonly string[] => [
  `${name}.weft`,
  `onnx/${name}.onnx`,
  `${name}.onnx`,
  `onnx/${name}_fp16.onnx`,
  `onnx/${name}_quantized.onnx`,
  `onnx/${name}_q4f16.onnx`,
];
const MODEL_FILE = /\.(weft|onnx|tflite)$/i;

/** Loads a model with its small files. Rejects as `Session.load` does, with FormatError for no JSON and UsageError for no model. */
export async function loadTaskModel(
  source: TaskSource,
  options: TaskOptions = {},
): Promise<TaskModel> {
  checkOptions<TaskOptions>('loadTaskModel', options, TASK_OPTIONS);
  return loadOneOf(source, options, filesOf('model'));
}

async function loadOneOf(
  source: TaskSource,
  options: TaskOptions,
  candidates: readonly string[],
): Promise<TaskModel> {
  const { file, config, preprocessor, cache = true, ...place } = options;
  const { signal } = options;
  const names = file === undefined ? candidates : [file];
  const { program, read } = await openSource(source, { file, names, cache, signal });
  const json = (name: string) => readJson(read, name, signal);
  // Small files come first: what they lack is said before weights are fetched.
  const [model, pictures] = await Promise.all([
    config ?? json('config.json'),
    preprocessor ?? json('preprocessor_config.json'),
  ]);
  // Bytes and files are here already, and need no cache.
  const isAddress = typeof program === 'string' || program instanceof URL;
  const session = await Session.load(program, { ...place, cache: cache && isAddress });
  return { session, config: model ?? {}, preprocessor: pictures, read };
}

/** Loads one of a task's models: of the files of these names the first that is there, by default those of a single model. */
type LoadModel = (
  source: TaskSource,
  options: TaskOptions,
  candidates?: readonly string[],
) => Promise<TaskModel>;

/** Opens the tokenizer of a model's folder. */
type ReadTokenizer = (read: ReadFile, options: TokenizerOptions) => Promise<TaskTokenizer>;

/** Makes a task of models and tokenizers. Where that fails, those that are loaded already are disposed of. */
export async function loadTask<Made>(
  make: (load: LoadModel, readTokenizer: ReadTokenizer) => Promise<Made>,
): Promise<Made> {
  await requireImport();
  const loads: Promise<TaskModel>[] = [];
  const tokenizers: TaskTokenizer[] = [];
  try {
    return await make(
      (source, options, candidates = filesOf('model')) => {
        const model = loadOneOf(source, options, candidates);
        loads.push(model);
        return model;
      },
      async (read, options) => {
        const { readTokenizer } = await import('./task-tokenizer.ts');
        const tokenizer = await readTokenizer(read, options);
        tokenizers.push(tokenizer);
        return tokenizer;
      },
    );
  } catch (error) {
    for (const tokenizer of tokenizers) tokenizer.close();
    // Whoever waits hears at once what failed, however long the others load.
    const dispose = ({ session }: TaskModel) => session.dispose();
    for (const model of loads) void model.then(dispose).catch(() => undefined);
    throw error;
  }
}

interface FolderOptions {
  readonly cache: boolean;
  readonly signal: AbortSignal | undefined;
}

interface OpenOptions extends FolderOptions {
  readonly file: string | undefined;
  /** Those that a folder is searched for. */
  readonly names: readonly string[];
}

interface OpenedSource {
  readonly program: SessionSource;
  readonly read: ReadFile;
}

async function openSource(given: TaskSource, options: OpenOptions): Promise<OpenedSource> {
  const source = typeof given === 'function' ? checkedReader(given) : given;
  const { file, names, cache, signal } = options;
  if (isFolder(source)) {
    const own = typeof source === 'function' ? undefined : addressOf(source);
    if (own !== undefined && file === undefined && MODEL_FILE.test(own.pathname)) {
      return { program: own, read: filesAt(folderAround(own), { cache }) };
    }
    // A file that was asked for by its name is looked for when it is loaded.
    const isSure = file !== undefined && own !== undefined;
    const failures: unknown[] = [];
    const name = isSure ? file : await findFile(source, names, { cache, signal }, failures);
    if (typeof source === 'function') {
      const program = name && (await source(name, signal));
      const where = file ?? 'folder of the model';
      if (!program) throw await noModel({ where, names, exists: existsIn(source, options) });
      return { program, read: source };
    }
    const folder = folderAt(addressOf(source));
    if (name === undefined) {
      const facts = { where: folder.href, names, advice: hubAdvice(source), cause: failures[0] };
      throw await noModel({ ...facts, exists: existsIn(source, options) });
    }
    return { program: new URL(name, folder), read: filesAt(folder, { cache }) };
  }
  return { program: source, read: async () => undefined };
}

function isFolder(source: TaskSource): source is TaskFolder {
  return typeof source === 'function' || typeof source === 'string' || source instanceof URL;
}

/** The first of some files that a folder has. */
export async function findFile(
  source: TaskFolder,
  names: readonly string[],
  options: FolderOptions,
  failures?: unknown[],
): Promise<string | undefined> {
  const exists = existsIn(source, options, failures);
  for (const name of names) if (await exists(name)) return name;
  return undefined;
}

const existsIn =
  (source: TaskFolder, { cache, signal }: FolderOptions, failures: unknown[] = []) =>
  async (name: string): Promise<boolean> => {
    if (typeof source === 'function') return (await source(name, signal)) !== undefined;
    return (await filesIn(folderAt(addressOf(source)), { cache, signal }, failures)(name)) === true;
  };

/** The object in a file; undefined for one that cannot be read. Rejects with FormatError for no JSON. */
export async function readJson(
  read: ReadFile,
  name: string,
  signal: AbortSignal | undefined,
  failures?: unknown[],
): Promise<JsonObject | undefined> {
  const bytes = await optionalReader(read, failures)(name, signal);
  return bytes && parseJsonObject(name, bytes);
}

/** The names of a model's classes in `config.json`, in order; undefined where it has none. */
export function labelsOf(config: JsonObject): readonly string[] | undefined {
  const names = config['id2label'];
  if (typeof names !== 'object' || names === null) return undefined;
  // Entries whose keys are integers come in ascending order, wherever the file has them.
  const entries = Object.entries(names);
  const gap = entries.findIndex(([id], i) => Number(id) !== i);
  if (gap < 0) return entries.map(([, name]) => String(name));
  throw new FormatError({
    where: 'config.json, id2label',
    got: `the class ${entries[gap]?.[0]} in place ${gap}`,
    expected: 'a name for each class from 0 up',
  });
}
