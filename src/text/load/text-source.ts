import type { SessionSource } from '../../client/source.ts';
import { addressOf, folderAround, folderAt } from '../../client/start/file-url.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';
import { requireOwnHashes, SMALL_FILES } from '../../core/bytes/require-own-hashes.ts';
import { DownloadError, UsageError } from '../../core/errors.ts';
import { hubAdvice } from '../../core/parse-url.ts';
import type { CacheType } from '../../core/text-layout.ts';
import { LoadedFile } from '../../downloads/loaded-file.ts';
import { openFile } from '../../downloads/open-file.ts';
import type { RangeFile } from '../../downloads/range-file.ts';
import type { FileHead, FilesSource } from '../../worker/protocol/wire-source.ts';
import type { filesOfPage } from './files-of-page.ts';
import {
  checkedReader,
  filesAt,
  filesIn,
  type FolderOptions,
  noModel,
  numberOf,
  type ReadFile,
} from '../../frontend/decoders/reader/model-folder.ts';
import type { OpenReader } from './open-reader.ts';
import { answered } from '../../frontend/decoders/reader/answers.ts';
import type { TextFacts, ReadPage } from '../../frontend/decoders/reader/text-reader.ts';

/** Which files a language model is loaded from, and how. */
interface TextFilesOptions extends Pick<FolderOptions, 'cache'> {
  readonly file?: string | undefined;
  readonly integrity?: string | Readonly<Record<string, string>> | undefined;
  readonly context?: number | undefined;
  readonly quantize?: 'q8_0' | 'q4_0' | undefined;
  readonly cacheType?: CacheType | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Reads the small files. */
  readonly reader: OpenReader;
}

/** A language model that is found, of which nothing is loaded yet. */
interface TextSource {
  /** The source that `Session.load` takes. */
  readonly program: SessionSource;
  /** The small files beside it, which the reader has then read. */
  readonly folder: Promise<TextFacts>;
}

/** Models in a folder whose file was not named, the smaller ones of transformers.js first. */
const CANDIDATES = [
  'model.weft',
  'onnx/model_q4f16.onnx',
  'onnx/model_q4.onnx',
  'onnx/model_fp16.onnx',
  'onnx/model.onnx',
  'onnx/model_quantized.onnx',
  'model.safetensors',
  'model.safetensors.index.json',
];

/** Ends of the addresses of models; any other is that of a folder. */
const MODEL_FILE = /\.(weft|onnx|gguf|safetensors|safetensors\.index\.json)$/i;

/** Finds the model of a folder, or takes the one at an address or path, and the files beside it. */
export async function openTextSource(
  source: string | URL | ReadFile,
  options: TextFilesOptions,
): Promise<TextSource> {
  const { cache = true, integrity = {}, context, quantize, cacheType, signal, reader } = options;
  const place = typeof source === 'function' ? checkedReader(source) : addressOf(source);
  const [folder, file] =
    typeof place === 'function'
      ? [
          place,
          options.file ??
            (await firstThat(async (name) => (await place(name, signal)) !== undefined)),
        ]
      : await modelAt(place, options, hubAdvice(source));
  if (/\.weft$/i.test(file)) refuseCompiled(file, { quantize, cacheType });
  const hashes = typeof integrity === 'string' ? { [file]: integrity } : integrity;
  const read =
    typeof folder === 'function' ? folder : filesAt(folder, { cache, integrity: hashes });
  const given = typeof folder === 'function' ? await readFiles(file, read, signal) : undefined;
  const slash = file.lastIndexOf('/') + 1;
  // Beside the model are those of its own folder.
  const beside = Object.entries(hashes).filter(([name]) => name.startsWith(file.slice(0, slash)));
  requireOwnHashes(hashes, [file, ...SMALL_FILES, ...beside.map(([name]) => name)]);
  if (given && Object.keys(hashes).length > 0) {
    const got = 'integrity beside a function that reads files';
    throw new UsageError({ where: 'TextModel.load', got, expected: 'an address' });
  }
  const files: FilesSource = {
    kind: 'files',
    url: typeof folder === 'function' ? file : new URL(file, folder).href,
    bytes: given,
    cache,
    integrity: Object.fromEntries(beside.map(([name, hash]) => [name.slice(slash), hash])),
    text: { contextLength: context, quantize, cacheType },
  };
  const parts = { files, context, signal, reader };
  // With hashes the page reads first, so that the worker knows what the page read of the files that it checks.
  const isChecked = /\.gguf$/i.test(file) && given === undefined && Object.keys(hashes).length > 0;
  if (!isChecked) return { program: sessionSource(files), folder: folderOf(read, parts) };
  const heads: Record<string, FileHead> = {};
  const small = await folderOf(read, { ...parts, heads });
  return { program: sessionSource({ ...files, heads }), folder: Promise.resolve(small) };
}

/** An executable is what it was compiled to. */
function refuseCompiled(
  file: string,
  { quantize, cacheType }: Pick<TextFilesOptions, 'quantize' | 'cacheType'>,
): void {
  const [option, flag] =
    quantize !== undefined
      ? ['quantize', `--quantize ${quantize}`]
      : ['cacheType', `--cache-type ${cacheType}`];
  if (quantize === undefined && cacheType === undefined) return;
  throw new UsageError({
    where: file,
    got: `an executable with the option ${option}`,
    expected: 'a model that is compiled',
    remedy: `Compile it with weft text ${flag}, or load the model that it was made from.`,
  });
}

const readFiles = async (...parts: Parameters<typeof filesOfPage>) =>
  (await import('./files-of-page.ts')).filesOfPage(...parts);

/** The page side passes it on as it is; its type is none of the public ones. */
function sessionSource(files: FilesSource): SessionSource {
  const { url, bytes } = files;
  const own = /\.weft$/i.test(url) ? bytes?.[nameOf(url)] : undefined;
  return own ?? (files as unknown as SessionSource);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The folder and the name in it of the model at an address. */
async function modelAt(
  place: URL,
  { file, cache, signal }: Pick<TextFilesOptions, 'file' | 'cache' | 'signal'>,
  advice: string | undefined,
): Promise<readonly [folder: URL, file: string]> {
  if (file === undefined && MODEL_FILE.test(place.pathname)) {
    const folder = folderAround(place);
    return [folder, place.href.slice(folder.href.length)];
  }
  const folder = folderAt(place);
  const failures: unknown[] = [];
  const exists = filesIn(folder, { cache, signal }, failures);
  return [folder, file ?? (await firstThat(exists, { where: folder.href, advice, failures }))];
}

interface Searched {
  readonly where?: string;
  readonly advice?: string | undefined;
  /** What the server refused with. */
  readonly failures?: readonly unknown[];
}

/** The first candidate that there is. A server that gives no answer may still be one of which a model is kept. */
async function firstThat(
  exists: (name: string) => Promise<boolean | undefined>,
  { where = 'folder of the model', advice, failures = [] }: Searched = {},
): Promise<string> {
  let isSilent = false;
  for (const name of CANDIDATES) {
    const isThere = await exists(name);
    if (isThere === true) return name;
    isSilent ||= isThere === undefined;
  }
  const [cause] = failures;
  if (isSilent && cause === undefined) {
    throw new DownloadError({
      where,
      got: 'no answer, and no model that is kept whole',
      expected: `one of ${CANDIDATES.join(', ')}`,
      remedy: 'Check the address, the connection, and that the server allows this origin.',
    });
  }
  throw await noModel({ where, names: CANDIDATES, exists, advice, cause });
}

interface FolderParts {
  readonly files: FilesSource;
  readonly context: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly reader: OpenReader;
  readonly heads?: Record<string, FileHead>;
}

/** The small files, with as many positions as were asked for. Rejects with UsageError if the model has fewer. */
async function folderOf(
  read: ReadFile,
  { files, context, signal, reader, heads }: FolderParts,
): Promise<TextFacts> {
  const page = pageFiles(files, read, { signal, heads });
  try {
    const facts = await reader.ask('openFolder', [page.own, page.read], signal);
    if (context === undefined) return facts;
    const most = numberOf(facts.config, 'max_position_embeddings') ?? context;
    if (context <= most) {
      return { ...facts, config: { ...facts.config, max_position_embeddings: context } };
    }
    throw new UsageError({
      where: 'TextModel.load, option context',
      got: String(context),
      expected: `an integer from 1 to ${most}, the model's context`,
    });
  } finally {
    page.close();
  }
}

interface PageFiles {
  /** The name of the model's file in its folder. */
  readonly own: string;
  readonly read: ReadPage;
  close(): void;
}

/** `heads` gets what was read of files of which only ranges are. */
function pageFiles(
  { url, bytes, cache, integrity }: FilesSource,
  read: ReadFile,
  {
    signal,
    heads,
  }: {
    readonly signal: AbortSignal | undefined;
    readonly heads: Record<string, FileHead> | undefined;
  },
): PageFiles {
  const path = bytes === undefined ? new URL(url).pathname : url;
  const own = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  const open = async (name: string): Promise<RangeFile | undefined> => {
    const given = bytes?.[name];
    if (bytes !== undefined) return given && new LoadedFile(name, given);
    const address = name === own ? url : new URL(`./${encodeURIComponent(name)}`, url).href;
    return openFile(address, { cache, integrity: integrity[name], signal });
  };
  const files = new Map<string, RangeFile | undefined>();
  const readRange = async (name: string, begin: number, end: number) => {
    if (!files.has(name)) files.set(name, await open(name));
    const head = await files.get(name)?.read(begin, end);
    if (heads && head) {
      heads[name] = { byteLength: head.byteLength, sha256: await platformSha256(head) };
    }
    return head;
  };
  return {
    own,
    read: (name, range) => answered(() => (range ? readRange(name, ...range) : read(name, signal))),
    close() {
      for (const file of files.values()) file?.close();
    },
  };
}
