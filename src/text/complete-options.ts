import type { BatchOptions, GenerateOptions, SavedOptions } from './generate-options.ts';
import { type JsonObject, numberOf } from './model-folder.ts';
import { randomSeed, type SamplingOptions } from './sampling.ts';

/** The sources of options that were not given. */
export interface CompletedBy {
  /** `generation_config.json`. */
  readonly defaults: JsonObject;
  /** Tokens that the model sees behind the prompt. */
  readonly room: number;
}

/** All options of a generation, with a seed: what they are does not change when it is saved. */
export function completeOptions(
  options: BatchOptions & Pick<GenerateOptions, 'overflow'>,
  { defaults, room }: CompletedBy,
): SavedOptions {
  const { maxTokens, stop = [], overflow = 'error', ...sampling } = options;
  const most = maxTokens ?? (overflow === 'slide' ? Number.POSITIVE_INFINITY : room);
  return {
    ...withDefaults(sampling, defaults),
    seed: sampling.seed ?? randomSeed(),
    maxTokens: Number.isFinite(most) ? most : null,
    stop: [stop].flat(),
    overflow,
  };
}

function withDefaults(options: SamplingOptions, file: JsonObject): SamplingOptions {
  const isGreedy = file['do_sample'] === false;
  return {
    ...options,
    temperature: options.temperature ?? (isGreedy ? 0 : numberOf(file, 'temperature')),
    topK: options.topK ?? numberOf(file, 'top_k'),
    topP: options.topP ?? numberOf(file, 'top_p'),
    minP: options.minP ?? numberOf(file, 'min_p'),
    repetitionPenalty: options.repetitionPenalty ?? numberOf(file, 'repetition_penalty'),
  };
}
