import {
  either,
  fits,
  type OptionKind,
  oneOf,
  type OptionKinds,
} from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { PLACE_OPTIONS, type PlaceOptions } from '../../client/session-options.ts';
import { CACHE_TYPES } from '../../core/text-layout.ts';
import type { LoadProgress } from '../../worker/protocol/load-request.ts';

/** How a language model is loaded. */
export interface TextLoadOptions extends PlaceOptions {
  /**
   * The model in the folder, such as `onnx/model_q4.onnx`. Default: the first that is there of `model.weft`, of
   * `model_q4f16`, `model_q4`, `model_fp16`, `model` and `model_quantized` in `onnx`, and of `model.safetensors`.
   */
  readonly file?: string;
  /** Positions that the model is to reach, up to its own number, which is the default. */
  readonly context?: number;
  /**
   * Rounds weights that are no codes yet to blocks of 8 or 4 bits, as llama.cpp does; embeddings and the output have 8 bits in any
   * case. {@link TextModel.quantization} says how far that moves them. Default: weights stay as they are.
   */
  readonly quantize?: 'q8_0' | 'q4_0';
  /**
   * Element type of the caches of keys and values: `float16` takes half the memory of float32,
   * `int8` about a quarter, with a scale for each position and head. Default: the model's own,
   * which is float32 for GGUF and safetensors.
   */
  readonly cacheType?: 'float16' | 'int8';
  /** Keeps files in the private files of the browser, where there are such; see {@link modelCache}. Default true. */
  readonly cache?: boolean;
  /**
   * The hash of the model's file, or hashes of files by their names in the folder: `sha256-` and base64. They are checked, and
   * a file that is kept is used without asking the server whether it is still the same.
   */
  readonly integrity?: string | Readonly<Record<string, string>>;
  /** Texts whose caches are kept, so that what they begin with is not read again. Default 4. */
  readonly conversations?: number;
  /**
   * The most bytes that the caches of all texts take together. Those that nobody goes on with are freed for others; a text
   * for which there is still no room ends with OutOfMemoryError. Default: no limit.
   */
  readonly cacheBytes?: number;
  /** Aborts the load. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

export const SOURCE: OptionKind = [
  'an address or a function that reads files',
  (value) => fits('address', value) || fits('function', value),
];

/** Options of `TextModel.load` and their kinds. */
export const TEXT_OPTIONS: OptionKinds<TextLoadOptions> = {
  conversations: 'count',
  cacheBytes: 'bytes',
  file: 'text',
  context: 'count',
  quantize: oneOf('q8_0', 'q4_0'),
  cacheType: oneOf(...CACHE_TYPES),
  cache: 'boolean',
  integrity: either('text', 'object'),
  signal: 'signal',
  onProgress: 'function',
  ...PLACE_OPTIONS,
};

/** Loads a session, which a folder that cannot be read ends: it is known long before the weights are there. */
export async function loadBeside(
  folder: Promise<unknown>,
  signal: AbortSignal | undefined,
  load: (stop: AbortSignal) => Promise<Session>,
): Promise<Session> {
  const stop = new AbortController();
  const forward = (): void => stop.abort(signal?.reason);
  // First, for it may have been rejected by the same abort.
  folder.catch((error: unknown) => stop.abort(error));
  signal?.throwIfAborted();
  signal?.addEventListener('abort', forward, { once: true });
  try {
    return await load(stop.signal);
  } finally {
    signal?.removeEventListener('abort', forward);
  }
}
