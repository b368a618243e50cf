import {
  either,
  FUNCTION,
  OBJECT,
  oneOf,
  type OptionKind,
  SIGNAL,
  TEXT,
} from '../client/check-options.ts';
import { UsageError } from '../core/errors.ts';
import type { Tool } from './chat-template.ts';
import type { SamplingOptions } from './sampling.ts';
import type { DraftModel } from './speculative-steps.ts';
import type { TokenConstraint } from './steps.ts';

/** Options of a generation: its length, its sampling, and how it ends. */
export interface GenerateOptions extends SamplingOptions {
  /** The most tokens. Default: as many as the model sees. */
  readonly maxTokens?: number | undefined;
  /** Strings that end the text; they are not part of it. */
  readonly stop?: string | readonly string[] | undefined;
  /**
   * At the model's context length: `error`, the default, rejects with RuntimeError; `slide` forgets
   * the older half of the text, but for the first few tokens.
   */
  readonly overflow?: 'error' | 'slide' | undefined;
  /** Says which tokens may come next. */
  readonly constraint?: TokenConstraint | undefined;
  /**
   * Guesses tokens, of which several are verified at once: `prompt` looks for the last tokens in the text before, a smaller
   * `TextModel` with the same tokens says what it would go on with. The text is the same as without (but for near ties), and comes sooner
   * where guesses are right.
   */
  readonly speculate?: 'prompt' | DraftModel | undefined;
  /** Ends it within one chunk of tokens; the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How several texts are generated at once. */
export type BatchOptions = Omit<GenerateOptions, 'overflow' | 'constraint' | 'speculate'>;

/** Options for going on with a saved generation; its file has the others. */
export type ResumeTextOptions = Pick<GenerateOptions, 'constraint' | 'speculate' | 'signal'>;

/** How an answer of a conversation is generated. */
export interface ChatOptions extends GenerateOptions {
  /** Functions that the model may want called. */
  readonly tools?: readonly Tool[] | undefined;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Ranges are those of `samplingOf`, which also checks what the files of a model say. */
const NUMBER: OptionKind = ['a number', isNumber];
const LENGTH: OptionKind = [
  'an integer from 0 up, or Infinity',
  (value) => isNumber(value) && value >= 0 && (Number.isInteger(value) || value === Infinity),
];
const TEXTS: OptionKind = [
  'a list of strings',
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
];
const CONSTRAINT: OptionKind = [
  'an object with mask and accept',
  (value) =>
    OBJECT[1](value) &&
    FUNCTION[1](Reflect.get(Object(value), 'mask')) &&
    FUNCTION[1](Reflect.get(Object(value), 'accept')),
];

const GUESSER: OptionKind = [
  '"prompt" or a TextModel',
  (value) => value === 'prompt' || FUNCTION[1](Reflect.get(Object(value), 'guesser')),
];

/** Options of a generation that a file of it holds. */
export interface SavedOptions extends SamplingOptions {
  /** Null for as many as come. */
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  readonly overflow: 'error' | 'slide';
}

/** Options of `TextModel.generate` and their kinds. */
export const GENERATE_OPTIONS = {
  maxTokens: LENGTH,
  temperature: NUMBER,
  topK: NUMBER,
  topP: NUMBER,
  minP: NUMBER,
  repetitionPenalty: NUMBER,
  presencePenalty: NUMBER,
  frequencyPenalty: NUMBER,
  logitBias: OBJECT,
  seed: NUMBER,
  stop: either(TEXT, TEXTS),
  overflow: oneOf('error', 'slide'),
  constraint: CONSTRAINT,
  speculate: GUESSER,
  signal: SIGNAL,
} satisfies Record<string, OptionKind>;

const { overflow: _overflow, constraint, speculate, ...batch } = GENERATE_OPTIONS;
/** Options of `TextModel.generateBatch` and their kinds. */
export const BATCH_OPTIONS = batch;
/** Options of `TextModel.resume` and their kinds. */
export const RESUME_OPTIONS = { constraint, speculate, signal: SIGNAL };

/** Throws UsageError for a prompt without tokens, or with some that the model does not have. */
export function checkPrompt(tokens: readonly number[], vocabulary: number): void {
  const isToken = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < vocabulary;
  const bad = tokens.findIndex((id) => !isToken(id));
  if (tokens.length > 0 && bad < 0) return;
  const got = tokens.length === 0 ? 'no token' : `the token ${String(tokens[bad])} at ${bad}`;
  const expected = `at least one token, each an integer from 0 to ${vocabulary - 1}`;
  throw new UsageError({ where: 'prompt', got, expected });
}
