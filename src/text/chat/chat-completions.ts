import {
  checkOptions,
  describe,
  either,
  listOf,
  oneOf,
  type OptionKind,
  type OptionKinds,
  requireKind,
} from '../../core/check-options.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { ChatMessage, Tool, ToolCall } from '../../frontend/decoders/reader/chat-template.ts';
import type { GeneratedToken, Generation, Usage } from '../generation.ts';
import type { TokenConstraint } from '../steps.ts';
import {
  checkMessages,
  type ChatOptions,
  type GenerateOptions,
  STOP,
  TOOLS,
} from '../generate-options.ts';
import { parseToolCalls } from './tool-calls.ts';

/** The format of an answer: any text, any JSON, JSON of a schema, or a text of a grammar. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      /** An answer is always as the schema says, also where it is not `strict`. */
      readonly json_schema: {
        readonly name?: string | undefined;
        readonly schema: object;
        readonly description?: string | undefined;
        readonly strict?: boolean | undefined;
      };
    }
  /** As llama.cpp writes grammars. */
  | { readonly type: 'grammar'; readonly grammar: string }
  | { readonly type: 'regex'; readonly regex: string };

/** A request as OpenAI's interface has it, and the options of {@link GenerateOptions} that it lacks. */
export interface ChatCompletionRequest {
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** Gives the answer in pieces, as it is generated. */
  readonly stream?: boolean | null | undefined;
  /** With `include_usage`, a last piece tells the usage. */
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | null | undefined;
  /** The most tokens of an answer. */
  readonly max_tokens?: number | null | undefined;
  /** The same; it goes before `max_tokens`. */
  readonly max_completion_tokens?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly temperature?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly top_p?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly top_k?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly min_p?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly repetition_penalty?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly presence_penalty?: number | null | undefined;
  /** See `SamplingOptions`. */
  readonly frequency_penalty?: number | null | undefined;
  /** Added to the logits of tokens, by their ids. */
  readonly logit_bias?: Readonly<Record<string, number>> | null | undefined;
  /** Decides all random numbers; later ones of `n` answers have the seeds behind it. */
  readonly seed?: number | null | undefined;
  /** Strings that end an answer. */
  readonly stop?: string | readonly string[] | null | undefined;
  /** The answers to give. Default 1. */
  readonly n?: number | null | undefined;
  /** Gives the probabilities of the tokens too. */
  readonly logprobs?: boolean | null | undefined;
  /** The format of an answer. Default: any text. */
  readonly response_format?: ResponseFormat | null | undefined;
  /** Functions that the model may want called. */
  readonly tools?: readonly Tool[] | null | undefined;
  /** `none`: the model is not told of them. Default `auto`. */
  readonly tool_choice?: 'auto' | 'none' | null | undefined;
  /** Variables of the model's chat template, such as `{ enable_thinking: false }`. */
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>> | null | undefined;
  /** Ignored: the model is the one that was loaded. */
  readonly model?: string | undefined;
}

/** Why an answer ended: by itself or a stop string, at the most tokens, with calls of tools, or by its signal. */
type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'aborted';

interface TokenLogprob {
  readonly token: string;
  /** The logarithm of the probability that the model gave it. */
  readonly logprob: number;
}

interface ChatChoice {
  /** Which of `n` answers it is. */
  readonly index: number;
  /** The answer; its content is null where there is nothing but calls. */
  readonly message: {
    readonly role: 'assistant';
    readonly content: string | null;
    readonly tool_calls?: readonly ToolCall[];
  };
  /** Why it ended. */
  readonly finish_reason: ChatFinishReason;
  /** The probability of each token, where the request asked for it. */
  readonly logprobs: { readonly content: readonly TokenLogprob[] } | null;
}

/** How many tokens were read and generated. */
interface ChatUsage {
  /** Tokens of the conversation. */
  readonly prompt_tokens: number;
  /** Tokens of all answers. */
  readonly completion_tokens: number;
  /** The sum of both. */
  readonly total_tokens: number;
  /** How many of the conversation a cache held. */
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  /** Tokens a second after the first one, and milliseconds until that. */
  readonly extra: { readonly tokens_per_second: number; readonly time_to_first_token_ms: number };
}

/** Answers to a conversation. */
export interface ChatCompletion {
  /** Tells it from other answers of the model. */
  readonly id: string;
  /** Always `chat.completion`, the name of this type in OpenAI's interface. */
  readonly object: 'chat.completion';
  /** Seconds since 1970. */
  readonly created: number;
  /** The name that the model's `config.json` has. */
  readonly model: string;
  /** One for each of `n`. */
  readonly choices: readonly ChatChoice[];
  /** How much was done. */
  readonly usage: ChatUsage;
}

/** A piece of an answer. */
export interface ChatCompletionChunk {
  /** The same for all pieces of an answer. */
  readonly id: string;
  /** Always `chat.completion.chunk`, the name of this type in OpenAI's interface. */
  readonly object: 'chat.completion.chunk';
  /** Seconds since 1970. */
  readonly created: number;
  /** The name that the model's `config.json` has. */
  readonly model: string;
  /** New text and tool calls of each answer; none in the piece with the usage. */
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: 'assistant';
      readonly content?: string;
      readonly tool_calls?: readonly ToolCall[];
    };
    readonly finish_reason: ChatFinishReason | null;
    readonly logprobs: { readonly content: readonly TokenLogprob[] } | null;
  }[];
  /** How much was done: in the last piece, where the request asked for it. */
  readonly usage?: ChatUsage | null;
}

/** The parts of a model that completions use. */
interface ChatBackend {
  chat(messages: readonly ChatMessage[], options: ChatOptions): Generation;
  /** The constraint that keeps an answer to a format. */
  constraintOf(format: ResponseFormat): Promise<TokenConstraint>;
  readonly name: string;
}

interface CreateOptions {
  /** Ends the answer within eight tokens. */
  readonly signal?: AbortSignal | undefined;
}

/** `chat.completions` of OpenAI's interface, over the loaded model. */
export class ChatCompletions {
  readonly #model: ChatBackend;
  #count = 0;

  /** @internal */
  constructor(model: ChatBackend) {
    this.#model = model;
  }

  /**
   * Answers a conversation, whole or, with `stream: true`, in pieces. Rejects with UsageError for a request that is wrong and
   * UnsupportedError for one that asks for what is not there.
   */
  create(
    request: ChatCompletionRequest & { readonly stream: true },
    options?: CreateOptions,
  ): Promise<AsyncIterable<ChatCompletionChunk>>;
  create(
    request: ChatCompletionRequest & { readonly stream?: false | null | undefined },
    options?: CreateOptions,
  ): Promise<ChatCompletion>;
  async create(
    request: ChatCompletionRequest,
    options: CreateOptions = {},
  ): Promise<ChatCompletion | AsyncIterable<ChatCompletionChunk>> {
    checkRequest(request);
    checkOptions<CreateOptions>(`${WHERE}, options`, options, { signal: 'signal' });
    const { signal } = options;
    const facts = {
      id: `chatcmpl-${++this.#count}`,
      created: Math.floor(Date.now() / 1000),
      model: this.#model.name,
    };
    const start = async (index: number): Promise<Generation> => {
      const { response_format: format, tools, tool_choice: choice } = request;
      const isFree = !format || format.type === 'text';
      const constraint = isFree ? undefined : await this.#model.constraintOf(format);
      const answer = this.#model.chat(request.messages, {
        ...optionsOf(request, index),
        constraint,
        signal,
        tools: choice === 'none' ? undefined : (tools ?? undefined),
        templateOptions: request.chat_template_kwargs ?? undefined,
      });
      await answer.ready();
      return answer;
    };
    if (request.stream === true) return streamed(await start(0), request, facts);
    const choices: ChatChoice[] = [];
    const usages: Usage[] = [];
    for (let index = 0; index < (request.n ?? 1); index++) {
      const generation = await start(index);
      choices.push(await choiceOf(generation, request, index));
      if (generation.usage) usages.push(generation.usage);
    }
    return { ...facts, object: 'chat.completion', choices, usage: usageOf(usages) };
  }
}

const WHERE = 'chat.completions.create';

const REQUEST: OptionKinds<ChatCompletionRequest> = {
  messages: 'list',
  stream: 'boolean',
  stream_options: 'object',
  max_tokens: 'number',
  max_completion_tokens: 'number',
  temperature: 'number',
  top_p: 'number',
  top_k: 'number',
  min_p: 'number',
  repetition_penalty: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  logit_bias: 'object',
  seed: 'integer',
  stop: either(STOP, listOf(STOP)),
  n: 'number',
  logprobs: 'boolean',
  response_format: 'object',
  tools: TOOLS,
  tool_choice: either('text', 'object'),
  chat_template_kwargs: 'object',
  model: 'text',
};

/** Fields of OpenAI's interface that are not there. */
const LACKING =
  /^(top_logprobs|best_of|parallel_tool_calls|functions|function_call|audio|modalities|prediction|reasoning_effort|service_tier|store|metadata|user|verbosity|web_search_options|echo|suffix)$/;

function checkRequest(request: ChatCompletionRequest): void {
  // Null is as good as absent.
  const given = Object.entries(Object(request)).filter(([, value]) => value !== null);
  for (const [name, value] of given) {
    if (value === undefined || !LACKING.test(name)) continue;
    throw unsupported(name, describe(value), 'nothing: Weft does not have this field');
  }
  const isObject = typeof request === 'object' && request !== null;
  const fields: unknown = isObject ? Object.fromEntries(given) : request;
  checkOptions(WHERE, fields as ChatCompletionRequest, REQUEST);
  const { messages, n, stream, response_format: format, stream_options: pieces } = request;
  checkMessages(messages);
  if (pieces) {
    checkOptions<typeof pieces>('stream_options', pieces, { include_usage: 'boolean' });
  }
  const choice: unknown = request.tool_choice ?? 'auto';
  if (choice === 'required' || typeof choice === 'object') {
    throw unsupported('tool_choice', describe(choice), '"auto" or "none"');
  }
  requireKind(WHERE, oneOf('auto', 'none'), ['tool_choice', choice]);
  if (n !== undefined && n !== null && !(Number.isInteger(n) && n >= 1 && n <= 128)) {
    throw new UsageError({ where: 'n', got: String(n), expected: '1 to 128' });
  }
  if (stream === true && (n ?? 1) > 1) {
    throw unsupported('n', `${n} answers in a stream`, 'one');
  }
  if (format) checkFormat(format);
}

/** Fields of the formats, all of which there have to be. */
const FORMATS: Readonly<Record<string, Readonly<Record<string, OptionKind>>>> = {
  text: {},
  json_object: {},
  json_schema: { json_schema: 'object' },
  grammar: { grammar: 'text' },
  regex: { regex: 'text' },
};

/** Throws UsageError for a format that there is not, and for fields that it does not have. */
export function checkFormat(format: ResponseFormat): void {
  const where = 'response_format';
  requireKind(where, oneOf(...Object.keys(FORMATS)), ['type', Object(format).type]);
  const kinds = FORMATS[format.type] ?? {};
  checkOptions<object>(where, format, { type: 'text', ...kinds });
  for (const [name, kind] of Object.entries(kinds)) {
    requireKind(where, kind, [name, Reflect.get(format, name)]);
  }
  if (format.type !== 'json_schema') return;
  const { json_schema: given } = format;
  checkOptions<typeof given>(`${where}, json_schema`, given, {
    name: 'text',
    schema: 'object',
    description: 'text',
    strict: 'boolean',
  });
  requireKind(`${where}, json_schema`, 'object', ['schema', given.schema]);
}

function unsupported(name: string, got: string, expected: string): UnsupportedError {
  return new UnsupportedError({ where: `${WHERE}, ${name}`, got, expected });
}

function optionsOf(request: ChatCompletionRequest, index: number): GenerateOptions {
  const { seed, stop, logit_bias: bias } = request;
  return {
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    topK: request.top_k ?? undefined,
    minP: request.min_p ?? undefined,
    repetitionPenalty: request.repetition_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    logitBias: bias ?? undefined,
    seed: seed === undefined || seed === null ? undefined : seed + index,
    stop: stop ?? undefined,
  };
}

async function choiceOf(
  generation: Generation,
  { tools, logprobs }: ChatCompletionRequest,
  index: number,
): Promise<ChatChoice> {
  const tokens: GeneratedToken[] = [];
  for await (const token of generation.tokens()) tokens.push(token);
  const text = tokens.map((token) => token.text).join('');
  const names = new Set(tools?.map((tool) => tool.function.name));
  const { content, calls } = parseToolCalls(text, names);
  return {
    index,
    message: {
      role: 'assistant',
      content: calls.length > 0 && content === '' ? null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish_reason: calls.length > 0 ? 'tool_calls' : (generation.finishReason ?? 'stop'),
    logprobs: logprobs === true ? { content: tokens.map(logprobOf) } : null,
  };
}

const logprobOf = ({ text, logprob }: GeneratedToken): TokenLogprob => ({ token: text, logprob });

type Facts = Pick<ChatCompletionChunk, 'id' | 'created' | 'model'>;

/** Pieces as they come. Where there are tools, what may be a call is told at the end, whole. */
async function* streamed(
  generation: Generation,
  { tools, logprobs, stream_options: options }: ChatCompletionRequest,
  facts: Facts,
): AsyncGenerator<ChatCompletionChunk, void> {
  type Delta = ChatCompletionChunk['choices'][number]['delta'];
  const chunk = (
    delta: Delta,
    reason: ChatFinishReason | null = null,
    token?: GeneratedToken,
  ): ChatCompletionChunk => ({
    ...facts,
    object: 'chat.completion.chunk',
    choices: [
      {
        index: 0,
        delta,
        finish_reason: reason,
        logprobs: logprobs === true && token ? { content: [logprobOf(token)] } : null,
      },
    ],
  });
  yield chunk({ role: 'assistant', content: '' });
  const names = new Set(tools?.map((tool) => tool.function.name));
  let held = '';
  for await (const token of generation.tokens()) {
    if (names.size > 0) held += token.text;
    else if (token.text !== '') yield chunk({ content: token.text }, null, token);
  }
  const { content, calls } = parseToolCalls(held, names);
  if (content !== '') yield chunk({ content });
  if (calls.length > 0) yield chunk({ tool_calls: calls });
  yield chunk({}, calls.length > 0 ? 'tool_calls' : (generation.finishReason ?? 'stop'));
  if (options?.include_usage === true && generation.usage) {
    const usage = usageOf([generation.usage]);
    yield { ...facts, object: 'chat.completion.chunk', choices: [], usage };
  }
}

function usageOf(usages: readonly Usage[]): ChatUsage {
  const [first] = usages;
  const completion = usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
  const prompt = first?.promptTokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: first?.cachedTokens ?? 0 },
    extra: {
      tokens_per_second: first?.tokensPerSecond ?? 0,
      time_to_first_token_ms: first?.firstTokenMs ?? 0,
    },
  };
}
