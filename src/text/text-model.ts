import { ASYNC_DISPOSE } from '../core/async/dispose-symbols.ts';
import {
  checkOptions,
  requireBytes,
  requireCount,
  requireKind,
  requireMaker,
} from '../core/check-options.ts';
import { Session } from '../client/session.ts';
import { UsageError } from '../core/errors.ts';
import { requireImport } from '../core/require-import.ts';
import { CacheShelf } from './caches/text-cache.ts';
import { ChatCompletions, checkFormat, type ResponseFormat } from './chat/chat-completions.ts';
import type { ChatMessage } from '../frontend/decoders/reader/chat-template.ts';
import { type CompletedBy, completeOptions } from './chat/complete-options.ts';
import {
  CHAT_OPTIONS,
  type ChatOptions,
  checkMessages,
  checkPrompt,
  BATCH_OPTIONS,
  PROMPT,
  type BatchOptions,
  GENERATE_OPTIONS,
  type GenerateOptions,
  RESUME_OPTIONS,
  type ResumeTextOptions,
  type SavedOptions,
} from './generate-options.ts';
import { loadBeside, SOURCE, TEXT_OPTIONS, type TextLoadOptions } from './load/load-options.ts';
import { generateTokens, Generation, StopStrings } from './generation.ts';
import { numberOf, numbersOf, type ReadFile } from '../frontend/decoders/reader/model-folder.ts';
import type { JsonObject } from '../frontend/decoders/gguf-folder.ts';
import { type OpenReader, openReader } from './load/open-reader.ts';
import {
  type RemoteTokenizer,
  remoteTokenizer,
  TextStream,
  type TextTokenizer,
} from './load/remote-tokenizer.ts';
import type { TextFacts } from '../frontend/decoders/reader/text-reader.ts';
import { randomSeed, type Sampling, samplingOf } from './sampling.ts';
import {
  DraftGuesser,
  type DraftModel,
  type Guesser,
  PROMPT_GUESSER,
} from './speculative-steps.ts';
import type { TokenConstraint } from './steps.ts';
import type { GrammarSource, JsonSchema, Vocabulary } from './grammar/index.ts';
import { type BatchRow, TextBatch } from './text-batch.ts';
import { TextProgram } from './text-program.ts';
import { openTextSource } from './load/text-source.ts';

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
export class TextModel implements DraftModel {
  /** The session in which the model runs, with its functions and its memory. */
  readonly session: Session;
  /** Turns text into its tokens and back. */
  readonly tokenizer: TextTokenizer;
  /** The most tokens that the model sees at a time. */
  readonly context: number;
  /** Goes on with a conversation as the model's template writes it. Throws UsageError for models that have none. */
  readonly chat: Chat;
  readonly #hasTemplate: boolean;
  readonly #reader: OpenReader;
  readonly #decodeNext: RemoteTokenizer['decodeNext'];
  readonly #program: TextProgram;
  readonly #generation: JsonObject;
  readonly #ends: ReadonlySet<number>;
  readonly #shelf: CacheShelf;
  #vocabulary: Vocabulary | undefined;

  /**
   * Loads a language model: a folder as transformers.js has them, `config.json`, `tokenizer.json`
   * and so on, with an executable that `weft text` made, ONNX or safetensors in it; or the address
   * of a `.weft`, `.onnx`, `.gguf` or `.safetensors` file with the others beside it. Other models
   * than executables are compiled in the worker. In Node addresses may be paths.
   *
   * Rejects as `Session.load` does; with UnsupportedError, before weights are read, for what Weft
   * lacks; with DownloadError, and StorageError where the browser has no room to keep the files.
   */
  static async load(
    source: string | URL | ReadFile,
    options: TextLoadOptions = {},
  ): Promise<TextModel> {
    requireCount('TextModel.load', arguments, 2);
    requireKind('TextModel.load', SOURCE, ['the source', source]);
    checkOptions<TextLoadOptions>('TextModel.load', options, TEXT_OPTIONS);
    const { file, context, quantize, cacheType, cache, integrity, ...others } = options;
    const { conversations = 4, cacheBytes, signal, onProgress, ...place } = others;
    const files = { file, context, quantize, cacheType, cache, integrity };
    await requireImport();
    const reader = await openReader(place);
    let session: Session | undefined;
    try {
      const { program, folder } = await openTextSource(source, { ...files, signal, reader });
      session = await loadBeside(folder, signal, (stop) =>
        Session.load(program, { ...place, signal: stop, onProgress }),
      );
      const shelf = { most: conversations, bytes: cacheBytes ?? Number.POSITIVE_INFINITY };
      return new TextModel(session, { reader, files: await folder, shelf });
    } catch (error) {
      await session?.dispose();
      reader.close();
      throw error;
    }
  }

  private constructor(
    session: Session,
    parts: {
      readonly reader: OpenReader;
      readonly files: TextFacts;
      readonly shelf: { readonly most: number; readonly bytes: number };
    },
  ) {
    requireMaker('TextModel.load', session instanceof Session);
    const { reader, files, shelf } = parts;
    this.session = session;
    const tokenizer = remoteTokenizer(reader);
    this.tokenizer = tokenizer;
    this.#decodeNext = tokenizer.decodeNext;
    this.#reader = reader;
    this.#program = new TextProgram(session);
    this.#generation = files.generation;
    const { config, generation } = files;
    this.context =
      numberOf(config, 'max_position_embeddings') ?? numberOf(config, 'n_positions') ?? 2048;
    this.#shelf = new CacheShelf({ program: this.#program, context: this.context }, shelf);
    const ends = [...numbersOf(config, 'eos_token_id'), ...numbersOf(generation, 'eos_token_id')];
    this.#ends = new Set(ends);
    this.#hasTemplate = files.hasTemplate;
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

  /** How many tokens the vocabulary has. */
  get vocabularySize(): number {
    return this.#program.vocabulary;
  }

  /** Bytes that the caches of all texts take. */
  get cacheBytes(): number {
    return this.#shelf.memory.used;
  }

  /** Goes on with a text, or with tokens. It begins when somebody iterates. */
  generate(prompt: string | readonly number[], options: GenerateOptions = {}): Generation {
    requireCount('generate', arguments, 2);
    checkOptions<GenerateOptions>('generate', options, GENERATE_OPTIONS);
    const { constraint, speculate, signal, ...saved } = options;
    if (constraint !== undefined && speculate !== undefined) {
      throw new UsageError({
        where: 'generate',
        got: 'constraint and speculate',
        expected: 'one of them',
        remedy: 'What a constraint forces is read in one go anyway.',
      });
    }
    requireKind('prompt', PROMPT, ['the prompt', prompt]);
    const order = { constraint, speculate, signal };
    if (typeof prompt !== 'string') return this.#go([...prompt], saved, order);
    return this.#go(() => this.tokenizer.encode(prompt), saved, order);
  }

  /** Goes on with tokens, or with those that a text turns out to be: then what depends on them is checked when it begins. */
  #go(
    given: readonly number[] | (() => Promise<readonly number[]>),
    options: Omit<GenerateOptions, keyof ResumeTextOptions>,
    order: ResumeTextOptions,
  ): Generation {
    const isKnown = typeof given !== 'function';
    if (isKnown) checkPrompt(given, this.#program.vocabulary);
    const complete = (tokens: readonly number[]): SavedOptions =>
      completeOptions(options, this.#limits(tokens));
    const first = complete(isKnown ? given : []);
    const prepare = async (): Promise<GenerationStart> => {
      if (isKnown) return { prompt: given, generated: [], options: first };
      const prompt = await given();
      checkPrompt(prompt, this.#program.vocabulary);
      return { prompt, generated: [], options: { ...complete(prompt), seed: first.seed } };
    };
    return this.#generate(first, prepare, order);
  }

  /**
   * Goes on with several texts at once, each as {@link generate} does alone; text i has the seed `seed + i`. It begins when somebody
   * iterates.
   */
  generateBatch(
    prompts: readonly (string | readonly number[])[],
    options: BatchOptions = {},
  ): TextBatch {
    requireCount('generateBatch', arguments, 2);
    checkOptions<BatchOptions>('generateBatch', options, BATCH_OPTIONS);
    requireKind('generateBatch', 'list', ['prompts', prompts]);
    if (prompts.length === 0) {
      throw new UsageError({ where: 'prompts', got: 'none', expected: 'one or more' });
    }
    const { signal, ...given } = options;
    const seed = given.seed ?? randomSeed();
    const rowOf = (tokens: readonly number[], row: number): BatchRow => {
      const { maxTokens, stop, ...sampling } = completeOptions(
        { ...given, seed: seed + row },
        this.#limits(tokens),
      );
      return {
        prompt: tokens,
        maxTokens: maxTokens ?? Number.POSITIVE_INFINITY,
        sampling: samplingOf(sampling, this.#program.vocabulary),
        decoder: this.#decoder(tokens),
        stops: new StopStrings(stop),
      };
    };
    const known = prompts.map((prompt, row) => {
      requireKind('prompt', PROMPT, ['the prompt', prompt]);
      const tokens = typeof prompt === 'string' ? [] : [...prompt];
      if (typeof prompt !== 'string') checkPrompt(tokens, this.#program.vocabulary);
      // What is wrong with the options is said at once.
      rowOf(tokens, row);
      return typeof prompt === 'string' ? prompt : tokens;
    });
    const prepare = (): Promise<BatchRow[]> =>
      Promise.all(
        known.map(async (prompt, row) => {
          const isText = typeof prompt === 'string';
          const tokens = isText ? await this.tokenizer.encode(prompt) : prompt;
          checkPrompt(tokens, this.#program.vocabulary);
          return rowOf(tokens, row);
        }),
      );
    return new TextBatch({
      program: this.#program,
      memory: this.#shelf.memory,
      count: known.length,
      prepare,
      ends: this.#ends,
      context: this.context,
      signal,
    });
  }

  /**
   * Goes on with a generation that was saved: pieces are those that come after the ones that it has
   * given. `constraint` and `speculate` have to be given again. Rejects with FormatError for a file
   * of another kind, and with UsageError for one of a model with other weights.
   */
  async resume(bytes: Uint8Array, options: ResumeTextOptions = {}): Promise<Generation> {
    checkOptions<ResumeTextOptions>('resume', options, RESUME_OPTIONS);
    const { readSavedText, requireSameCaches, requireSameModel } = await import('./saved-text.ts');
    requireBytes('resume', bytes);
    const saved = readSavedText(bytes);
    requireSameCaches(saved, this.#program.cacheDTypes);
    requireSameModel(saved, await this.#program.fingerprint());
    checkPrompt(saved.prompt, this.#program.vocabulary);
    const tokens = [...saved.prompt, ...saved.generated];
    checkPrompt(tokens, this.#program.vocabulary);
    for (const id of saved.generated) options.constraint?.accept(id);
    const held = this.#shelf.best(tokens)?.shared(tokens) ?? 0;
    if (saved.length > held) {
      const cache = this.#shelf.empty();
      await cache.restore(tokens.slice(0, saved.length), saved.caches);
      this.#shelf.giveBack(cache);
    }
    return this.#generate(saved.options, async () => saved, options);
  }

  /** @internal What guesses for another model. */
  guesser(tokens: readonly number[], sampling: Sampling): Guesser {
    const cache = this.#shelf.take(tokens);
    const limits = { chunk: this.#program.chunk, context: this.context };
    return new DraftGuesser(cache, sampling, limits, () => this.#shelf.giveBack(cache));
  }

  /**
   * How far weights were moved when they were rounded to codes, where the model was compiled so: root mean squares, relative to
   * those of the weights, of all together and of the matrix where it is most. Undefined for other models.
   */
  async quantization(): Promise<{ readonly error: number; readonly worst: number } | undefined> {
    if (!this.session.functions.includes('quantization')) return undefined;
    const { errors } = await this.session.run({}, { function: 'quantization' });
    const [error = 0, worst = 0] = Array.from(errors?.data ?? [], Number);
    return { error, worst };
  }

  /** Frees everything. Idempotent. */
  async dispose(): Promise<void> {
    this.#shelf.dispose();
    await this.session.dispose();
    this.#reader.close();
  }

  /** Calls {@link dispose} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.dispose();
  }

  #chat(messages: readonly ChatMessage[], given: ChatOptions = {}): Generation {
    checkOptions<ChatOptions>('chat', given, CHAT_OPTIONS);
    checkMessages(messages);
    const { tools, templateOptions, constraint, speculate, signal, ...options } = given;
    if (!this.#hasTemplate) {
      throw new UsageError({
        where: 'chat',
        got: 'a model without a chat template',
        expected: 'one that has it in tokenizer_config.json or chat_template.jinja',
        remedy: 'Call generate with a text instead.',
      });
    }
    const copy = copied({ messages, input: { tools, variables: templateOptions } });
    return this.#go(
      () => this.#reader.ask('encodeChat', [copy.messages, copy.input], signal),
      options,
      { constraint, speculate, signal },
    );
  }

  /**
   * A constraint that keeps a text to a format, for `constraint` of one generation. Rejects with
   * ParseError, UnsupportedError or UsageError for a format that cannot be followed.
   */
  async constraint(format: ResponseFormat): Promise<TokenConstraint> {
    checkFormat(format);
    const { compileGrammar, Vocabulary } = await import('./grammar/index.ts');
    this.#vocabulary ??= new Vocabulary(
      await this.#reader.ask('vocabulary', [this.#program.vocabulary, [...this.#ends]]),
    );
    return compileGrammar(sourceOf(format), this.#vocabulary).start();
  }

  #generate(
    { maxTokens: _most, stop: _stop, overflow: _overflow, ...checked }: SavedOptions,
    prepare: () => Promise<GenerationStart>,
    { constraint, speculate, signal }: ResumeTextOptions,
  ): Generation {
    const program = this.#program;
    const sampling = samplingOf(checked, program.vocabulary);
    const draft = speculate === 'prompt' ? undefined : speculate;
    if (draft && draft.vocabularySize !== program.vocabulary) {
      throw new UsageError({
        where: 'speculate',
        got: `a model with ${draft.vocabularySize} tokens`,
        expected: `one with the same ${program.vocabulary}`,
      });
    }
    const isEnd = (id: number): boolean => this.#ends.has(id);
    const save = (text: GenerationStart): Promise<Uint8Array> => this.#save(text);
    const start = async ({ prompt, generated, options }: GenerationStart) => {
      const { maxTokens, stop, overflow } = options;
      const tokens = [...prompt, ...generated];
      const decoder = this.#decoder(prompt);
      const stops = new StopStrings(stop);
      for (const text of await decoder.push(generated)) stops.push(text);
      const cache = this.#shelf.take(tokens);
      // The last one is read in any case, for its logits.
      const cachedTokens = Math.min(cache.shared(prompt), prompt.length - 1);
      const guesses = { guessed: 0, right: 0 };
      const order = {
        program,
        cache,
        prompt,
        generated,
        maxTokens: maxTokens ?? Number.POSITIVE_INFINITY,
        sampling,
        ends: this.#ends,
        decoder,
        stops,
        constraint,
        guesser: draft ? draft.guesser(tokens, sampling) : speculate && PROMPT_GUESSER,
        guesses,
        signal,
        context: this.context,
        slide: overflow === 'slide' ? slid : undefined,
      };
      return { cache, cachedTokens, tokens: generateTokens(order), guesses };
    };
    return new Generation({
      async prepare() {
        const text = await prepare();
        return {
          promptTokens: text.prompt.length,
          start: () => start(text),
          save: (more) => save({ ...text, generated: [...text.generated, ...more] }),
        };
      },
      end: (cache) => this.#shelf.giveBack(cache),
      isEnd,
    });
  }

  async #save(text: GenerationStart): Promise<Uint8Array> {
    const { writeSavedText } = await import('./saved-text.ts');
    const tokens = [...text.prompt, ...text.generated];
    const cache = this.#shelf.best(tokens);
    const length = cache?.shared(tokens) ?? 0;
    const caches = cache && length > 0 ? await cache.save(length) : {};
    const fingerprint = await this.#program.fingerprint();
    return writeSavedText({ ...text, fingerprint, length, caches });
  }

  #limits({ length }: readonly number[]): CompletedBy {
    const { context } = this;
    return { defaults: this.#generation, room: context - length, context };
  }

  #decoder(before: readonly number[]): TextStream {
    return new TextStream(this.#decodeNext, before.slice(-CUT));
  }
}

/** A text, and how it goes on. */
interface GenerationStart {
  readonly prompt: readonly number[];
  /** Tokens that were generated before. */
  readonly generated: readonly number[];
  readonly options: SavedOptions;
}

/** The grammar that answers of a format follow. */
function sourceOf(format: ResponseFormat): GrammarSource {
  if (format.type === 'json_schema') return { schema: format.json_schema.schema as JsonSchema };
  if (format.type === 'grammar') return { ebnf: format.grammar };
  if (format.type === 'regex') return { regex: format.regex };
  return { schema: { type: 'object' } };
}

/** A copy for the reader's thread, of what the caller may change meanwhile. */
function copied<T>(conversation: T): T {
  try {
    return structuredClone(conversation);
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : String(cause);
    const expected = 'messages, tools and templateOptions of plain data';
    throw new UsageError({ where: 'chat', got, expected }, { cause });
  }
}

function slid(tokens: readonly number[]): readonly number[] {
  const half = Math.floor(tokens.length / 2);
  return [...tokens.slice(0, SINKS), ...tokens.slice(half + SINKS)];
}
