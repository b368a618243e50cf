import { type OptionKind, type OptionKinds } from '../core/check-options.ts';
import { PLACE_OPTIONS, type PlaceOptions } from '../client/session-options.ts';
import type { LoadProgress } from '../worker/protocol/load-request.ts';

/** How the model of a task is loaded; all of `Session.load` that says where it runs. */
export interface TaskOptions extends PlaceOptions {
  /**
   * The model in the folder, such as `onnx/model_fp16.onnx`. Default: the first that is there of `model.weft`, `onnx/model.onnx`,
   * `model.onnx`, and in `onnx` of `model_fp16`, `model_quantized` and `model_q4f16`.
   */
  readonly file?: string | undefined;
  /** The content of `config.json`, in its place. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** The content of `preprocessor_config.json`, in its place. */
  readonly preprocessor?: Readonly<Record<string, unknown>> | undefined;
  /** Keeps the files in the private files of the browser, where there are such. Default true. */
  readonly cache?: boolean | undefined;
  /** Aborts the load, which then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** How one call of a task is done. */
export interface CallOptions {
  /** Aborts the call, which then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export const SHARE: OptionKind = [
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
];

/** Times in sounds. */
export const MILLISECONDS_FROM_0: OptionKind = [
  'milliseconds from 0 up',
  (value) => typeof value === 'number' && value >= 0,
];

/** The kind of what a task is given beside its options: models, their folders and files. */
export const SOURCE: OptionKind = [
  'an address, bytes or a function that reads files',
  (value) => value !== null && /^(string|object|function)$/.test(typeof value),
];

export const MODELS_OPTIONS: OptionKinds<Omit<TaskOptions, 'file' | 'config' | 'preprocessor'>> = {
  cache: 'boolean',
  signal: 'signal',
  onProgress: 'function',
  ...PLACE_OPTIONS,
};

export const TASK_OPTIONS: OptionKinds<TaskOptions> = {
  file: 'text',
  config: 'object',
  preprocessor: 'object',
  ...MODELS_OPTIONS,
};
