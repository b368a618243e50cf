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
import type { TokenConstraint } from './generation.ts';
import type { SamplingOptions } from './sampling.ts';

/** What is generated, and how. */
export interface GenerateOptions extends SamplingOptions {
  /** The most tokens. Default: as many as the model sees. */
  readonly maxTokens?: number | undefined;
  /** Strings that end the text; they are not part of it. */
  readonly stop?: string | readonly string[] | undefined;
  /**
   * What happens when the text is as long as the model sees: `error`, the default, rejects with RuntimeError; `slide`
   * forgets the older half, but for the first few tokens.
   */
  readonly overflow?: 'error' | 'slide' | undefined;
  /** Says which tokens may come next. */
  readonly constraint?: TokenConstraint | undefined;
  /** Ends it within one chunk of tokens; the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

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

/** Of `TextModel.generate`. */
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
  signal: SIGNAL,
} satisfies Record<string, OptionKind>;

/** Throws UsageError for a prompt without tokens, or with some that the model does not have. */
export function checkPrompt(tokens: readonly number[], vocabulary: number): void {
  const isToken = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < vocabulary;
  const bad = tokens.findIndex((id) => !isToken(id));
  if (tokens.length > 0 && bad < 0) return;
  const got = tokens.length === 0 ? 'no token' : `the token ${String(tokens[bad])} at ${bad}`;
  const expected = `at least one token, each an integer from 0 to ${vocabulary - 1}`;
  throw new UsageError({ where: 'prompt', got, expected });
}
