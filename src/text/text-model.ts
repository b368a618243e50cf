import { BOOLEAN, checkOptions, COUNT, either, OBJECT, TEXT } from '../client/check-options.ts';
import { Session } from '../client/session.ts';
import type { LoadOptions } from '../client/session-options.ts';
import { UsageError } from '../core/errors.ts';
import type { LoadProgress } from '../worker/protocol.ts';
import { ChatCompletions, type ResponseFormat } from './chat-completions.ts';
import { type ChatMessage, type ChatTemplate, openChatTemplate } from './chat-template.ts';
import { tokenBytes } from './token-bytes.ts';
import { Generation } from './text-generation.ts';
import {
  type ChatOptions,
  checkPrompt,
  GENERATE_OPTIONS,
  type GenerateOptions,
} from './generate-options.ts';
import { generateTokens, type TokenConstraint } from './generation.ts';
import {
  type JsonObject,
  type ModelFolder,
  numberOf,
  numbersOf,
  type ReadFile,
} from './model-folder.ts';
import { type SamplingOptions, samplingOf } from './sampling.ts';
import type { GrammarSource, JsonSchema, Vocabulary } from './grammar/index.ts';
import { StopStrings } from './stop-strings.ts';
import { StreamDecoder } from './stream-decoder.ts';
import { TextCache } from './text-cache.ts';
import { TextProgram } from './text-program.ts';
import { openTextSource } from './text-source.ts';
import { openTokenizer, type TextTokenizer } from './text-tokenizer.ts';

/** How a language model is loaded. */
export interface TextLoadOptions
  extends Pick<
    LoadOptions,
    | 'device'
    | 'worker'
    | 'workerFiles'
    | 'workerTimeout'
    | 'threads'
    | 'gpu'
    | 'remote'
    | 'compileLimits'
  > {
  /**
   * The model in the folder, such as `onnx/model_q4.onnx`. Default: the first that is there of `model.weft`, of
   * `model_q4f16`, `model_q4`, `model_fp16`, `model` and `model_quantized` in `onnx`, and of `model.safetensors`.
   */
  readonly file?: string;
  /** Positions that the model is to reach, up to its own number, which is the default. */
  readonly context?: number;
  /** Keeps files in the private files of the browser, where there are such; see {@link modelCache}. Default true. */
  readonly cache?: boolean;
  /**
   * The hash of the model's file, or hashes of files by their names in the folder: `sha256-` and base64. They are checked, and
   * a file that is kept is used without asking the server whether it is still the same.
   */
  readonly integrity?: string | Readonly<Record<string, string>>;
  /** Texts whose caches are kept, so that what they begin with is not read again. Default 4. */
  readonly conversations?: number;
  /** Aborts the load. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how far the load is. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** Tokens that a character is cut into at most. */
const CUT = 4;

/** Answers conversations: `model.chat(messages)`, or OpenAI's `model.chat.completions.create(request)`. */
export interface Chat {
  (messages: readonly ChatMessage[], options?: ChatOptions): Generation;
  /** The same in the shape of OpenAI's interface. */
  readonly completions: ChatCompletions;
}

/** Tokens at the begin of a text that stay when it slides: attention rests on them (Xiao et al. 2023). */
const SINKS = 4;

/**
 * A language model with its tokenizer.
 *
 * ```ts
 * const model = await TextModel.load('/models/stories/');
 * for await (const piece of model.generate('Mia went', { maxTokens: 50 })) show(piece);
 * ```
 */
export class TextModel {
  /** Where it runs, and what it is made of. */
  readonly session: Session;
  /** Turns text into its tokens and back. */
  readonly tokenizer: TextTokenizer;
  /** The most tokens that the model sees at a time. */
  readonly context: number;
  /** Goes on with a conversation as the model's template writes it. Throws UsageError for models that have none. */
  readonly chat: Chat;
  readonly #template: ChatTemplate | undefined;
  readonly #files: ModelFolder;
  readonly #program: TextProgram;
  readonly #generation: JsonObject;
  readonly #ends: ReadonlySet<number>;
  readonly #most: number;
  /** Caches that nobody uses, the one that was used last at the end. */
  #idle: TextCache[] = [];
  #vocabulary: Vocabulary | undefined;

  /**
   * Loads a language model: a folder as transformers.js has them, `config.json`, `tokenizer.json` and so on, with an executable
   * that `weft text` made, ONNX or safetensors in it; or the address of a `.weft`, `.onnx`, `.gguf` or `.safetensors`
   * file with the others beside it. What is no executable is compiled in the worker. In Node addresses may be paths.
   *
   * Rejects as `Session.load` does; with UnsupportedError, before weights are read, for what Weft lacks; with DownloadError,
   * and StorageError where the browser has no room to keep the files.
   */
  static async load(
    source: string | URL | ReadFile,
    options: TextLoadOptions = {},
  ): Promise<TextModel> {
    const {
      file,
      conversations = 4,
      context,
      cache,
      integrity,
      signal,
      onProgress,
      ...place
    } = options;
    const own = { conversations, file, context, cache, integrity };
    checkOptions<typeof own>('TextModel.load', own, FILE_OPTIONS);
    const { program, folder } = await openTextSource(source, { ...own, signal });
    const session = await loadBeside(folder, signal, (stop) =>
      Session.load(program, { ...place, signal: stop, onProgress }),
    );
    try {
      const files = await folder;
      const tokenizer = await openTokenizer({
        tokenizer: files.tokenizer,
        config: files.tokenizerConfig,
      });
      const template = await openChatTemplate(files.tokenizerConfig, files.chatTemplate);
      return new TextModel(session, { tokenizer, template, files, conversations });
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }

  private constructor(
    session: Session,
    {
      tokenizer,
      template,
      files,
      conversations,
    }: {
      readonly tokenizer: TextTokenizer;
      readonly template: ChatTemplate | undefined;
      readonly files: ModelFolder;
      readonly conversations: number;
    },
  ) {
    this.session = session;
    this.tokenizer = tokenizer;
    this.#program = new TextProgram(session);
    this.#generation = files.generation;
    this.#most = conversations;
    const { config, generation } = files;
    this.context =
      numberOf(config, 'max_position_embeddings') ?? numberOf(config, 'n_positions') ?? 2048;
    const ends = [...numbersOf(config, 'eos_token_id'), ...numbersOf(generation, 'eos_token_id')];
    this.#ends = new Set(ends);
    this.#template = template;
    this.#files = files;
    const chat = (messages: readonly ChatMessage[], options?: ChatOptions): Generation =>
      this.#chat(messages, options);
    const completions = new ChatCompletions({
      chat,
      constraintOf: (format) => this.constraint(format),
      name:
        [config['_name_or_path'], config['model_type']].find((name) => typeof name === 'string') ??
        'model',
    });
    this.chat = Object.assign(chat, { completions });
  }

  /** Goes on with a text, or with tokens. It begins when somebody iterates. */
  generate(prompt: string | readonly number[], options: GenerateOptions = {}): Generation {
    checkOptions<GenerateOptions>('generate', options, GENERATE_OPTIONS);
    const tokens = typeof prompt === 'string' ? this.tokenizer.encode(prompt) : [...prompt];
    checkPrompt(tokens, this.#program.vocabulary);
    const sampling = samplingOf(this.#defaults(options), this.#program.vocabulary);
    const { maxTokens, stop = [], overflow = 'error', constraint, signal } = options;
    const room = this.context - tokens.length;
    const order = {
      prompt: tokens,
      maxTokens: maxTokens ?? (overflow === 'slide' ? Number.POSITIVE_INFINITY : Math.max(room, 1)),
      sampling,
      vocabulary: this.#program.vocabulary,
      ends: this.#ends,
      constraint,
      signal,
      context: this.context,
      chunk: this.#program.chunk,
      slide: overflow === 'slide' ? slid : undefined,
    };
    const start = () => {
      const cache = this.#take(tokens);
      // The last one is read in any case, for its logits.
      const cachedTokens = Math.min(cache.shared(tokens), tokens.length - 1);
      const decoder = new StreamDecoder((ids) => this.tokenizer.decode(ids), tokens.slice(-CUT));
      const stops = new StopStrings([stop].flat());
      return { cache, cachedTokens, tokens: generateTokens({ ...order, cache, decoder, stops }) };
    };
    return new Generation(tokens.length, start, (cache) => this.#giveBack(cache));
  }

  /** Frees everything. Idempotent. */
  async dispose(): Promise<void> {
    for (const cache of this.#idle) cache.dispose();
    this.#idle = [];
    await this.session.dispose();
  }

  /** At the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #chat(messages: readonly ChatMessage[], { tools, ...options }: ChatOptions = {}): Generation {
    if (this.#template === undefined) {
      throw new UsageError({
        where: 'chat',
        got: 'a model without a chat template',
        expected: 'one that has it in tokenizer_config.json or chat_template.jinja',
        remedy: 'Call generate with a text instead.',
      });
    }
    const text = this.#template.render(messages, tools);
    return this.generate(this.tokenizer.encode(text, { addSpecialTokens: false }), options);
  }

  /**
   * What a text of some shape may be, for `constraint` of one generation. Rejects with ParseError, UnsupportedError or
   * UsageError for a shape that cannot be followed.
   */
  async constraint(format: ResponseFormat): Promise<TokenConstraint> {
    const { compileGrammar, Vocabulary } = await import('./grammar/index.ts');
    this.#vocabulary ??= new Vocabulary(
      tokenBytes(this.#files.tokenizer, this.#program.vocabulary),
      { endTokens: [...this.#ends] },
    );
    return compileGrammar(sourceOf(format), this.#vocabulary).start();
  }

  /** Options with what the model's file says where nothing was given. */
  #defaults(options: GenerateOptions): SamplingOptions {
    const file = this.#generation;
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

  /** The idle cache that holds most of a text, or a new one. */
  #take(tokens: readonly number[]): TextCache {
    const best = this.#idle.toSorted((a, b) => b.shared(tokens) - a.shared(tokens))[0];
    const isUseful = best !== undefined && best.shared(tokens) > 1;
    if (!isUseful && this.#idle.length < this.#most)
      return new TextCache(this.#program, this.context);
    const taken = isUseful ? best : this.#idle[0];
    if (taken === undefined) return new TextCache(this.#program, this.context);
    this.#idle = this.#idle.filter((cache) => cache !== taken);
    return taken;
  }

  #giveBack(cache: TextCache): void {
    this.#idle.push(cache);
    while (this.#idle.length > this.#most) this.#idle.shift()?.dispose();
  }
}

/** The grammar of a format. */
function sourceOf(format: ResponseFormat): GrammarSource {
  if (format.type === 'json_schema') return { schema: format.json_schema.schema as JsonSchema };
  if (format.type === 'grammar') return { ebnf: format.grammar };
  if (format.type === 'regex') return { regex: format.regex };
  return { schema: { type: 'object' } };
}

function slid(tokens: readonly number[]): readonly number[] {
  const half = Math.floor(tokens.length / 2);
  return [...tokens.slice(0, SINKS), ...tokens.slice(half + SINKS)];
}

const FILE_OPTIONS = {
  conversations: COUNT,
  file: TEXT,
  context: COUNT,
  cache: BOOLEAN,
  integrity: either(TEXT, OBJECT),
};

/** Loads a session, which a folder that cannot be read ends: it is known long before the weights are there. */
async function loadBeside(
  folder: Promise<unknown>,
  signal: AbortSignal | undefined,
  load: (stop: AbortSignal) => Promise<Session>,
): Promise<Session> {
  const stop = new AbortController();
  const forward = (): void => stop.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', forward, { once: true });
  folder.catch((error: unknown) => stop.abort(error));
  try {
    return await load(stop.signal);
  } finally {
    signal?.removeEventListener('abort', forward);
  }
}
