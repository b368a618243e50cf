import { Deferred } from '../../core/async/deferred.ts';
import { FileWindow } from '../../core/bytes/file-window.ts';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import { DownloadError, WeftError, FormatError } from '../../core/errors.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import type { RangeFile } from '../../downloads/range-file.ts';
import { checkOnnxHead } from '../onnx/model/check-onnx-head.ts';
import { externalRanges, loadExternalData } from '../onnx/model/external-data.ts';
import { readOnnxOutline } from '../onnx/model/read-outline.ts';
import { requireDecoderNames, onnxDecoder } from './onnx-decoder.ts';
import { type Quantization, WeightQuantizer } from './weight-quantizer.ts';
import { type ModelFiles, openModelFile } from './open-model-file.ts';
import { CompileBudget, type BudgetOptions } from '../../compiler/ir/compile-budget.ts';
import { type Assembled, countCalls } from '../../compiler/compile-in-steps.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { importWithin } from '../onnx/import-onnx.ts';
import type { ExternalDataReader } from '../onnx/protobuf/external-data.ts';
import { takeTurns } from '../take-turns.ts';
import type { CacheType } from '../../core/text-layout.ts';
import { withCachesOf } from './cache-type.ts';
import { type Decoder, generationModule } from './generation-module.ts';
import { withReport } from './quantize-decoder.ts';
import { textModuleWithin } from './text-module.ts';

/** Within which limits a language model is compiled, and what its progress is reported to. */
interface CompileTextOptions extends Pick<BudgetOptions, 'onPlace'> {
  readonly compileLimits?: CompileLimits | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
  /** Rounds weights, of decoders while they are read. */
  readonly quantizer?: WeightQuantizer | undefined;
  /** The dtype of caches of keys and values. Default: that of the model. */
  readonly cacheType?: CacheType | undefined;
}

/**
 * Compiles the program that generates text with a decoder, with turns for others between passes. `weightBytes` is how many
 * bytes its weights take. Rejects as `compile` throws, and with the signal's reason.
 */
function compileDecoder(
  decoder: Decoder,
  {
    weightBytes,
    quantizer,
    cacheType,
    ...options
  }: CompileTextOptions & { readonly weightBytes: number },
): Promise<Assembled> {
  return compileText(options, (budget) => {
    budget.addWeights(weightBytes);
    const written = generationModule(withCachesOf(decoder, cacheType));
    const module = quantizer === undefined ? written : withReport(written, quantizer);
    budget.addWrittenCalls(countCalls(module));
    return module;
  });
}

/** {@link compileDecoder} of a model in ONNX, whose tensors in other files `externalData` has. */
function compileOnnxDecoder(
  bytes: Uint8Array,
  {
    externalData,
    quantizer,
    cacheType,
    ...options
  }: CompileTextOptions & { readonly externalData: ExternalDataReader | undefined },
): Promise<Assembled> {
  return compileText(options, () =>
    textModuleWithin(bytes, { externalData, quantizer, cacheType }),
  );
}

/**
 * Looks whether Weft has all that a model in ONNX needs, before tensors in other files are read: they are taken for zeros.
 * Throws as `importOnnx` does, and UnsupportedError for a model that is no decoder with a cache.
 */
function checkOnnxDecoder(
  bytes: Uint8Array,
  { compileLimits, cacheType }: Pick<CompileTextOptions, 'compileLimits' | 'cacheType'>,
): void {
  new CompileBudget(compileLimits).run(() => {
    onnxDecoder(importWithin(bytes, { externalData: zeros }), { cacheType });
  });
}

const zeros: ExternalDataReader = (path, { byteLength }) => {
  try {
    return new Uint8Array(byteLength);
  } catch (cause) {
    const got = `a tensor of ${byteLength} bytes`;
    throw new FormatError({ where: path, got, expected: 'one that fits into memory' }, { cause });
  }
};

function compileText(
  { compileLimits, onProgress, signal, ...given }: CompileTextOptions,
  write: (budget: CompileBudget) => Module,
): Promise<Assembled> {
  const budget = new CompileBudget(compileLimits, given);
  const module = budget.run(() => write(budget));
  return takeTurns(module, { compileLimits, onProgress }, { budget, signal });
}

/** The files of a model, as whoever compiles it has them. */
interface WeightFiles extends ModelFiles {
  /** The name of the model's own file. */
  readonly name: string;
  /** Rejects with DownloadError for a file that is not there. */
  get(name: string): Promise<RangeFile>;
  /** From now on weights are read, and their progress is reported. Files whose hashes were given are checked before. */
  readWeights(onBytes: (count: number) => void): Promise<void>;
}

interface CompileFilesOptions extends CompileTextOptions {
  readonly compileLimits: CompileLimits | undefined;
  readonly contextLength?: number | undefined;
  readonly quantize?: Quantization | undefined;
  /** Called for the bytes of weights. */
  readonly onDownload?: ((loaded: number, total: number) => void) | undefined;
}

/**
 * Compiles the language model in some files, by the end of its name: ONNX, GGUF or safetensors.
 * Reports what Weft lacks before weights are read. Rejects as `openModelFile` and `compileDecoder`
 * do, and with the signal's reason.
 */
export function compileTextFiles(
  files: WeightFiles,
  options: CompileFilesOptions,
): Promise<Assembled> {
  const { signal, onDownload, quantize } = options;
  const quantizer = quantize && new WeightQuantizer(quantize);
  const newCounter: NewCounter = (total) => {
    let loaded = 0;
    onDownload?.(loaded, total);
    return (count) => {
      signal?.throwIfAborted();
      loaded += count;
      onDownload?.(loaded, total);
    };
  };
  return /\.onnx$/i.test(files.name)
    ? compileOnnx(files, { ...options, quantizer }, newCounter)
    : compileDecoderFile(files, { ...options, quantizer }, newCounter);
}

/** Gives what counts bytes and says how many there are of so many. */
type NewCounter = (total: number) => (count: number) => void;

/** GGUF and safetensors: their heads say whether Weft has the model, then tensors are read one by one. */
async function compileDecoderFile(
  files: WeightFiles,
  { contextLength, ...options }: CompileFilesOptions,
  newCounter: NewCounter,
): Promise<Assembled> {
  const file = await openModelFile(files.name, files, { contextLength });
  const weightBytes = file.decoder.tensors.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
  await files.readWeights(newCounter(weightBytes));
  return compileDecoder(await file.load(options.quantizer), { ...options, weightBytes });
}

/** The bytes of a head that are looked at first, and the most. */
const HEAD_BYTES = 2 ** 20;
const MOST_HEAD_BYTES = 2 ** 26;

/** A file that is on its way as soon as it is opened, or nearly. */
const SMALL_BYTES = 2 ** 22;

/** Reads of an outline, each a round trip: before the download begins, and the most. */
const FIRST_READS = 12;
const MOST_READS = 2 ** 10;
const MOST_OUTLINE_BYTES = 2 ** 24;

async function compileOnnx(
  files: WeightFiles,
  options: CompileFilesOptions,
  newCounter: NewCounter,
): Promise<Assembled> {
  const file = await files.get(files.name);
  let head: Uint8Array = new Uint8Array();
  for (let length = HEAD_BYTES; length <= MOST_HEAD_BYTES; length *= 2) {
    head = await file.read(0, length);
    checkLooksLikeOnnx(head, file.url);
    const names = new Set<string>();
    const isWhole = checkOnnxHead(head, names);
    // Of a whole file the next check tells more.
    if (head.byteLength < length) break;
    if (isWhole) {
      // Some writers put weights before nodes.
      if (names.size > 0) requireDecoderNames(names);
      break;
    }
  }
  const { byteLength: own } = file;
  const download = async (): Promise<Uint8Array> => {
    await file.verify();
    return file.read(0, own, { onBytes: newCounter(own) });
  };
  const isSmall = own <= SMALL_BYTES;
  const bytes = await (isSmall ? download() : whileChecked(download, file, { ...options, head }));
  const ranges = externalRanges(bytes);
  // Most of such a model is in other files.
  if (ranges.length > 0) checkOnnxDecoder(bytes, options);
  const count = newCounter(ranges.reduce((sum, { byteLength }) => sum + byteLength, own));
  count(own);
  for (const { path } of ranges) await files.get(path);
  await files.readWeights(count);
  const externalData = await loadExternalData(
    bytes,
    async (path, { byteOffset, byteLength }) =>
      (await files.read(path, byteOffset, byteOffset + byteLength)) ?? new Uint8Array(),
  );
  return compileOnnxDecoder(bytes, { ...options, externalData });
}

/**
 * Downloads a model while its outline is read, by requests of their own, and checked: what Weft lacks ends the download.
 * Rejects as `checkOnnxDecoder` throws, and with FormatError. Where no outline can be had, the whole model tells.
 */
async function whileChecked<T>(
  download: () => Promise<T>,
  file: RangeFile,
  options: CompileFilesOptions & { readonly head: Uint8Array },
): Promise<T> {
  const { byteLength } = file;
  const { head } = options;
  const time = new Deferred();
  let isOver = false;
  const window: FileWindow = new FileWindow(async (from, to) => {
    if (window.reads === FIRST_READS) time.resolve();
    isOver ||= window.reads === MOST_READS || window.readByteLength > MOST_OUTLINE_BYTES;
    const end = Math.min(to, byteLength);
    if (end <= head.byteLength) return head.subarray(from, end);
    const bytes = isOver ? undefined : await file.peek?.(from, end);
    if (bytes?.byteLength === end - from) return bytes;
    throw new DownloadError('internal: no outline');
  }, byteLength);
  const checked = checkOutline(window, options);
  await Promise.race([checked, time.promise]);
  const all = download();
  try {
    return await Promise.race([all, checked.then(() => all)]);
  } finally {
    isOver = true;
  }
}

async function checkOutline(window: FileWindow, options: CompileFilesOptions): Promise<void> {
  let outline: Uint8Array;
  try {
    outline = await readOnnxOutline(window);
  } catch (error) {
    // What ends these requests ends the download too, or is of no importance.
    if (error instanceof WeftError && !(error instanceof DownloadError)) throw error;
    return;
  }
  checkOnnxDecoder(outline, options);
}
