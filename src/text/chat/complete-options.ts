import { UsageError } from '../../core/errors.ts';
import type { BatchOptions, GenerateOptions, SavedOptions } from '../generate-options.ts';
import { numberOf } from '../../frontend/decoders/reader/model-folder.ts';
import type { JsonObject } from '../../frontend/decoders/gguf-folder.ts';
import { randomSeed, type SamplingOptions } from '../sampling.ts';

/** The sources of options that were not given. */
export interface CompletedBy {
  /** `generation_config.json`. */
  readonly defaults: JsonObject;
  /** Tokens that the model sees behind the prompt. */
  readonly room: number;
  /** Tokens that the model sees. */
  readonly context: number;
}

/** All options of a generation, with a seed: what they are does not change when it is saved. */
export function completeOptions(
  options: BatchOptions & Pick<GenerateOptions, 'overflow'>,
  { defaults, room, context }: CompletedBy,
): SavedOptions {
  const { maxTokens, stop = [], overflow = 'error', ...sampling } = options;
  const isSliding = overflow === 'slide';
  if (!isSliding && (room < 1 || (Number.isFinite(maxTokens ?? 0) && (maxTokens ?? 0) > room))) {
    throw new UsageError({
      where: room < 1 ? 'prompt' : 'maxTokens',
      got: room < 1 ? `${context - room} tokens` : `${maxTokens} behind ${context - room} tokens`,
      expected: `at most ${room < 1 ? context - 1 : room}, because the model sees ${context} at a time`,
      remedy: "Shorten the prompt, or let the text slide with overflow: 'slide'.",
    });
  }
  const requested = Number.isFinite(maxTokens) ? maxTokens : undefined;
  const most = requested ?? (isSliding ? Number.POSITIVE_INFINITY : room);
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
