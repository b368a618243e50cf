import {
  describe,
  either,
  fits,
  having,
  listOf,
  oneOf,
  type OptionKind,
  type OptionKinds,
} from '../core/check-options.ts';
import { UsageError } from '../core/errors.ts';
import type { ChatMessage, Tool } from '../frontend/decoders/reader/chat-template.ts';
import type { SamplingOptions } from './sampling.ts';
import type { DraftModel } from './speculative-steps.ts';
import type { TokenConstraint } from './steps.ts';

/** Options of a generation: its length, its sampling, and how it ends. */
export interface GenerateOptions extends SamplingOptions {
  /** The most tokens. Default, and for Infinity: as many as the model sees. */
  readonly maxTokens?: number | undefined;
  /** Strings that end the text; they are not part of it. */
  readonly stop?: string | readonly string[] | undefined;
  /**
   * At the model's context length: `error`, the default, refuses a call that may reach beyond; `slide` forgets
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
  /** Ends it within one chunk of tokens, as leaving the loop does: the text so far stays, and `finishReason` is `aborted`. */
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
  /** Variables of the model's chat template, such as `{ enable_thinking: false }`. */
  readonly templateOptions?: Readonly<Record<string, unknown>> | undefined;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

const LENGTH: OptionKind = [
  'an integer from 0 up, or Infinity',
  (value) => isNumber(value) && value >= 0 && (Number.isInteger(value) || value === Infinity),
];
/** A string that ends a text. */
export const STOP: OptionKind = [
  'a string with characters',
  (value) => value !== '' && fits('text', value),
];
const CONSTRAINT = having('an object with mask and accept', 'mask', 'accept');
const NAMED = (value: unknown): boolean =>
  fits(
    'text',
    (Object((Object(value) as Partial<Tool>).function) as Partial<Tool['function']>).name,
  );
const CALLS = listOf(['{ function: { name, arguments } }', NAMED]);
export const TOOLS = listOf(["{ type: 'function', function: { name, … } }", NAMED]);
const GUESSER = either(oneOf('prompt'), having('a TextModel', 'guesser'));

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
  temperature: 'number',
  topK: 'number',
  topP: 'number',
  minP: 'number',
  repetitionPenalty: 'number',
  presencePenalty: 'number',
  frequencyPenalty: 'number',
  logitBias: 'object',
  seed: 'number',
  stop: either(STOP, listOf(STOP)),
  overflow: oneOf('error', 'slide'),
  constraint: CONSTRAINT,
  speculate: GUESSER,
  signal: 'signal',
} satisfies Record<string, OptionKind>;

/** Options of `TextModel.chat` and their kinds. */
export const CHAT_OPTIONS: OptionKinds<ChatOptions> = {
  ...GENERATE_OPTIONS,
  tools: TOOLS,
  templateOptions: 'object',
};

const { overflow, constraint, speculate, ...batch } = GENERATE_OPTIONS;
const { signal: _signal, ...saved } = batch;
/** Kinds of {@link SavedOptions}. */
export const SAVED_OPTIONS: OptionKinds<SavedOptions> = {
  ...saved,
  maxTokens: ['an integer from 0 up, or null', (value) => value === null || fits(LENGTH, value)],
  stop: listOf(STOP),
  overflow,
};
/** Options of `TextModel.generateBatch` and their kinds. */
export const BATCH_OPTIONS = batch;
/** Options of `TextModel.resume` and their kinds. */
export const RESUME_OPTIONS = { constraint, speculate, signal: GENERATE_OPTIONS.signal };

/** Throws UsageError for what is no conversation. */
export function checkMessages(messages: unknown): void {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const bad = list.findIndex((message) => !isMessage(message));
  if (list.length > 0 && bad < 0) return;
  throw new UsageError({
    where: bad < 0 ? 'messages' : `messages[${bad}]`,
    got: describe(bad < 0 ? messages : list[bad]),
    expected: "one or more messages, such as [{ role: 'user', content: 'Hello' }]",
  });
}

/** Only an assistant may say nothing but calls. */
function isMessage(value: unknown): boolean {
  const { role, content, tool_calls: calls } = Object(value) as Partial<ChatMessage>;
  const hasContent = role === 'assistant' || (content !== undefined && content !== null);
  const areCalls = calls === undefined || calls === null || fits(CALLS, calls);
  return fits('text', role) && hasContent && areCalls;
}

/** A text, or tokens in any list. */
export const PROMPT: OptionKind = [
  'a text or a list of tokens',
  // The bytes of a text are no tokens.
  (value) =>
    fits('text', value) || (Symbol.iterator in Object(value) && !(value instanceof Uint8Array)),
];

/** Throws UsageError for a prompt without tokens, or with some that the model does not have. */
export function checkPrompt(tokens: readonly number[], vocabulary: number): void {
  const isToken = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < vocabulary;
  const bad = tokens.findIndex((id) => !isToken(id));
  if (tokens.length > 0 && bad < 0) return;
  const got = tokens.length === 0 ? 'no token' : `the token ${String(tokens[bad])} at ${bad}`;
  const expected = `at least one token, each an integer from 0 to ${vocabulary - 1}`;
  throw new UsageError({ where: 'prompt', got, expected });
}
