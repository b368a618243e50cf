import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { JsonObject } from '../task-model.ts';
import { numbersOf } from '../../frontend/decoders/reader/model-folder.ts';
import { activate } from '../results/labels.ts';

/** Seconds between two timestamps of Whisper. */
export const TIMESTAMP_SECONDS = 0.02;

/** Language, task and form of the text of a window. */
interface WhisperOrder {
  readonly language: string | undefined;
  readonly task: 'transcribe' | 'translate' | undefined;
  readonly timestamps: boolean;
}

/**
 * The rules for tokens in `generation_config.json` of Whisper, as @huggingface/transformers reads
 * them.
 */
export class WhisperRules {
  /** The token that ends a text; those from it on are none of a text. */
  readonly end: number;
  /** The token of 0 seconds; undefined for a model without timestamps. */
  readonly firstTimestamp: number | undefined;
  readonly #generation: JsonObject;
  readonly #start: number;
  readonly #languages: ReadonlyMap<string, number>;

  /** `generation` is `generation_config.json`, and behind it `config.json`. */
  constructor(generation: JsonObject) {
    this.#generation = generation;
    this.#start = firstOf(generation, 'decoder_start_token_id') ?? 50_258;
    this.end = firstOf(generation, 'eos_token_id') ?? 50_257;
    const none = firstOf(generation, 'no_timestamps_token_id');
    this.firstTimestamp = none === undefined ? undefined : none + 1;
    const languages = Object.entries(Object(generation['lang_to_id']) as Record<string, unknown>);
    this.#languages = new Map(
      languages.map(([name, id]) => [name.replaceAll(/^<\||\|>$/g, ''), Number(id)]),
    );
  }

  /** Codes of the languages that the model tells apart; none for a model of one language. */
  get languages(): readonly string[] {
    return [...this.#languages.keys()];
  }

  /** The token that logits of the next one are asked behind, to tell the language. */
  get start(): number {
    return this.#start;
  }

  /** The likeliest language by logits behind {@link start}. */
  likeliestLanguage(logits: ArrayLike<number>): string | undefined {
    let best: string | undefined;
    let most = -Infinity;
    for (const [language, id] of this.#languages) {
      const logit = logits[id] ?? -Infinity;
      if (logit > most) [best, most] = [language, logit];
    }
    return best;
  }

  /** The tokens that a text begins with. Throws UsageError for an unknown language, UnsupportedError for what the model cannot do. */
  begin({ language, task, timestamps }: WhisperOrder): number[] {
    const none = firstOf(this.#generation, 'no_timestamps_token_id');
    if (timestamps && none === undefined) {
      const got = 'a model without no_timestamps_token_id in generation_config.json';
      throw new UnsupportedError({ where: 'timestamps', got, expected: 'a model that has them' });
    }
    const tokens = [this.#start];
    if (this.#languages.size > 0) {
      const id = this.#languages.get(language ?? '');
      if (id === undefined) {
        const expected = `one of ${this.languages.join(', ')}`;
        throw new UsageError({ where: 'language', got: String(language), expected });
      }
      tokens.push(id, this.#taskToken(task ?? 'transcribe'));
    } else if (language !== undefined || task !== undefined) {
      const got = language === undefined ? `task ${task}` : `language ${language}`;
      throw new UsageError({
        where: 'transcribe',
        got,
        expected: 'neither, for a model of one language',
      });
    } else {
      tokens.push(...this.#forced().filter((token) => token !== none));
    }
    if (!timestamps && none !== undefined) tokens.push(none);
    return tokens;
  }

  /** The likeliest token that may come behind others, of which the first `begin` are given. */
  choose(
    logits: Float32Array | Float64Array,
    tokens: readonly number[],
    { begin, timestamps }: { readonly begin: number; readonly timestamps: boolean },
  ): number {
    const scores = Float64Array.from(logits);
    const suppress = (ids: readonly number[]): void => {
      for (const id of ids) scores[id] = -Infinity;
    };
    suppress(numbersOf(this.#generation, 'suppress_tokens'));
    if (tokens.length === begin) suppress(numbersOf(this.#generation, 'begin_suppress_tokens'));
    if (timestamps) this.#pairTimestamps(scores, tokens.slice(begin));
    return highest(scores);
  }

  /** Limits timestamps as `WhisperTimeStampLogitsProcessor` does: they come in pairs, and rise. */
  #pairTimestamps(scores: Float64Array, text: readonly number[]): void {
    const first = this.firstTimestamp ?? scores.length;
    const isTime = (token: number | undefined): boolean => (token ?? 0) >= first;
    scores[first - 1] = -Infinity;
    if (text.length === 0) {
      scores.fill(-Infinity, 0, first);
      const most = firstOf(this.#generation, 'max_initial_timestamp_index');
      if (most !== undefined) scores.fill(-Infinity, first + most + 1);
      return;
    }
    if (isTime(text.at(-1))) {
      if (text.length < 2 || isTime(text.at(-2))) scores.fill(-Infinity, first);
      else scores.fill(-Infinity, 0, this.end);
    }
    const times = text.filter(isTime);
    const last = times.at(-1);
    if (last !== undefined) {
      // The begin of a stretch may be the end of the one before, an end lies behind its begin.
      const isOpen = !isTime(text.at(-1)) || isTime(text.at(-2)) || text.length === 1;
      scores.fill(-Infinity, first, isOpen ? last + 1 : last);
    }
    const likelihoods = activate(scores, 'softmax');
    const time = likelihoods.subarray(first).reduce((a, b) => a + b, 0);
    const words = likelihoods.subarray(0, first).reduce((a, b) => Math.max(a, b), 0);
    if (time > words) scores.fill(-Infinity, 0, first);
  }

  #taskToken(task: string): number {
    const id = firstOf(Object(this.#generation['task_to_id']) as JsonObject, task);
    if (id !== undefined) return id;
    const got = `a model without ${task} in task_to_id of generation_config.json`;
    throw new UnsupportedError({ where: 'task', got, expected: 'a model for it' });
  }

  /**
   * The tokens that begin a text, of models without `lang_to_id`: in the order of their places from
   * 1 up, without those left open.
   */
  #forced(): readonly number[] {
    const pairs = this.#generation['forced_decoder_ids'];
    const list: readonly unknown[] = Array.isArray(pairs) ? pairs : [];
    return list.flatMap((pair) => {
      const token: unknown = Array.isArray(pair) ? pair[1] : undefined;
      return typeof token === 'number' ? [token] : [];
    });
  }
}

/** The place of the highest score, the first one of equal ones. */
export function highest(scores: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[best] ?? 0)) best = i;
  return best;
}

/** A number of a file that has it alone or first in a list. */
function firstOf(object: JsonObject, key: string): number | undefined {
  return numbersOf(object, key)[0];
}
