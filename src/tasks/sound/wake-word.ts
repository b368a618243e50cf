import { checkOptions, type OptionKinds, requireKind } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { numbersOf, outputOf } from '../results/numbers.ts';
import { requireLoaded, Task } from '../task.ts';
import { loadTask, type TaskSource } from '../task-model.ts';
import {
  type CallOptions,
  MILLISECONDS_FROM_0,
  MODELS_OPTIONS,
  SOURCE,
  type TaskOptions,
} from '../task-options.ts';
import { SampleWindows } from './sample-windows.ts';
import { readSound, requireLevels, type Sound } from './sound.ts';

/** The models that hear wake words, as openWakeWord exports them. */
export interface WakeWordSources {
  /** Spectrograms: (1, samples) in, (1, 1, frames, 32) out. */
  readonly mel: TaskSource;
  /** Embeds 76 frames: (1, 76, 32, 1) in, (1, 1, 1, 96) out. */
  readonly embedding: TaskSource;
  /** A model for each word, by the name that it is told by: (1, embeddings, 96) in, one likelihood out. */
  readonly words: Readonly<Record<string, TaskSource>>;
}

/** How the models are loaded. */
export type WakeWordOptions = Omit<TaskOptions, 'file' | 'config' | 'preprocessor'>;

/** When a word counts as heard. */
interface ListenOptions {
  /** From this likelihood on. Default 0.5. */
  readonly threshold?: number | undefined;
  /** So long after it was heard, the same word is not heard again. Default 2,000 ms. */
  readonly refractoryMs?: number | undefined;
}

interface DetectWordsOptions extends ListenOptions, CallOptions {}

interface HeardWord {
  readonly word: string;
  /** How likely it was said, from 0 to 1. */
  readonly score: number;
  /** Seconds from the begin of the sound to the end of the window in which it was heard. */
  readonly time: number;
}

const RATE = 16_000;
/** Samples of a window, 80 ms, and those before it that the spectrogram needs. */
const WINDOW = 1280;
const CONTEXT = 480;
const BANDS = 32;
/** Frames that are embedded, and how many a window adds. */
const FRAMES = 76;
const FRAMES_PER_WINDOW = 8;
/** Models hear samples of 16 bits. */
const PEAK = 32_768;

const LISTEN_OPTIONS: OptionKinds<ListenOptions> = {
  threshold: 'positive',
  refractoryMs: MILLISECONDS_FROM_0,
};

/**
 * Loads models that hear wake words in sounds of 16,000 samples a second. Rejects as `Session.load` does, with UsageError for no word
 * and with ShapeError for other models.
 */
export async function wakeWord(
  sources: WakeWordSources,
  options: WakeWordOptions = {},
): Promise<WakeWord> {
  checkOptions<WakeWordOptions>('wakeWord', options, MODELS_OPTIONS);
  checkOptions<WakeWordSources>('wakeWord, sources', sources, {
    mel: SOURCE,
    embedding: SOURCE,
    words: 'object',
  });
  requireKind('wakeWord, sources', SOURCE, ['mel', sources.mel]);
  requireKind('wakeWord, sources', SOURCE, ['embedding', sources.embedding]);
  requireKind('wakeWord, sources', 'object', ['words', sources.words]);
  const words = Object.entries(sources.words);
  if (words.length === 0) {
    throw new UsageError({ where: 'wakeWord', got: 'no words', expected: 'one or more' });
  }
  const place = { ...options, config: {}, preprocessor: {} };
  return loadTask(async (load) => {
    const { session: mel } = await load(sources.mel, place);
    const { session: embedding } = await load(sources.embedding, place);
    const listeners: WordModel[] = [];
    for (const [word, source] of words) {
      const { session } = await load(source, place);
      listeners.push({ word, session, count: embeddingCount(word, session) });
    }
    return new WakeWord({ mel, embedding, words: listeners });
  });
}

/** How many embeddings a word's model sees. */
function embeddingCount(word: string, { inputs, outputs }: Session): number {
  const [input, further] = inputs;
  const [, count, size] = input?.shape ?? [];
  const scores = outputs[0]?.shape.reduce<number>((all, dim) => all * (Number(dim) || 1), 1);
  if (typeof count === 'number' && size !== undefined && further === undefined && scores === 1) {
    return count;
  }
  const shapes = [...inputs, ...outputs].map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  throw new ShapeError({
    where: `the model of ${JSON.stringify(word)}`,
    got: shapes.join(', '),
    expected: 'an input [1, embeddings, 96] and one likelihood',
  });
}

interface WordModel {
  readonly word: string;
  readonly session: Session;
  readonly count: number;
}

interface WakeWordParts {
  readonly mel: Session;
  readonly embedding: Session;
  readonly words: readonly WordModel[];
}

/** Hears wake words. */
export class WakeWord extends Task {
  /** Samples of a second that it hears. */
  readonly sampleRate = RATE;
  /** Samples of a window, after each of which words are looked for. */
  readonly windowLength = WINDOW;
  readonly #parts: WakeWordParts;
  #silence: Promise<Silence> | undefined;

  /** @internal */
  constructor(parts: WakeWordParts) {
    requireLoaded(Object(parts).mel);
    super([parts.mel, parts.embedding, ...parts.words.map(({ session }) => session)]);
    this.#parts = parts;
  }

  /** The words in a sound, in order. Rejects with UsageError for no sound, and with the signal's reason. */
  async detect(sound: Sound, options: DetectWordsOptions = {}): Promise<HeardWord[]> {
    checkOptions<DetectWordsOptions>('detect', options, { ...LISTEN_OPTIONS, signal: 'signal' });
    const { signal, ...listen } = options;
    signal?.throwIfAborted();
    const samples = await readSound(sound, RATE);
    const listener = new Listener(this.#parts, await this.#silent(), listen);
    const heard: HeardWord[] = [];
    for (const window of windowsOf(samples)) heard.push(...(await listener.hear(window, signal)));
    return heard;
  }

  /** The embedding of each window of a sound, of which models for words of one's own are made. Rejects as {@link detect} does. */
  async embed(sound: Sound, options: CallOptions = {}): Promise<Float32Array[]> {
    checkOptions<CallOptions>('embed', options, { signal: 'signal' });
    options.signal?.throwIfAborted();
    const samples = await readSound(sound, RATE);
    const embedder = new Embedder(this.#parts, (await this.#silent()).frames);
    const embeddings: Float32Array[] = [];
    for (const window of windowsOf(samples)) {
      embeddings.push(await embedder.embed(window, options.signal));
    }
    return embeddings;
  }

  /** Hears a sound while it comes in. What was before it counts as silence. */
  stream(options: ListenOptions = {}): WakeWordStream {
    checkOptions<ListenOptions>('stream', options, LISTEN_OPTIONS);
    const start = async (): Promise<Listener> =>
      new Listener(this.#parts, await this.#silent(), options);
    return new WakeWordStream(start);
  }

  /** Frames and embedding of silence, which stands before the sound. Computed once. */
  #silent(): Promise<Silence> {
    this.#silence ??= (async () => {
      const mel = await melFrames(this.#parts.mel, new Float32Array(CONTEXT + WINDOW), undefined);
      const last = mel.subarray(mel.length - BANDS);
      const frames = new Float32Array(FRAMES * BANDS);
      for (let f = 0; f < FRAMES; f++) frames.set(last, f * BANDS);
      return { frames, embedding: await embedFrames(this.#parts.embedding, frames, undefined) };
    })();
    // Whoever asks again tries again.
    this.#silence.catch(() => {
      this.#silence = undefined;
    });
    return this.#silence;
  }
}

interface Silence {
  readonly frames: Float32Array;
  readonly embedding: Float32Array;
}

/** Windows of a sound; the last one is filled with silence. */
function* windowsOf(samples: Float32Array): Generator<Float32Array> {
  for (let at = 0; at < samples.length; at += WINDOW) {
    const window = new Float32Array(WINDOW);
    window.set(samples.subarray(at, at + WINDOW));
    yield window;
  }
}

async function melFrames(
  session: Session,
  samples: Float32Array,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const name = session.inputs[0]?.name ?? 'input';
  const loud = samples.map((value) => value * PEAK);
  const input = new Tensor('float32', loud, [1, samples.length]);
  const numbers = numbersOf(outputOf(await session.run({ [name]: input }, { signal }), []));
  if (numbers.length !== FRAMES_PER_WINDOW * BANDS) {
    throw new ShapeError({
      where: 'the model of spectrograms',
      got: `${numbers.length} numbers of ${samples.length} samples`,
      expected: `${FRAMES_PER_WINDOW} frames of ${BANDS} bands`,
    });
  }
  // As openWakeWord brings them to what embeddings were trained on.
  return Float32Array.from(numbers, (value) => value / 10 + 2);
}

async function embedFrames(
  session: Session,
  frames: Float32Array,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const name = session.inputs[0]?.name ?? 'input_1';
  const input = new Tensor('float32', frames, [1, FRAMES, BANDS, 1]);
  return Float32Array.from(
    numbersOf(outputOf(await session.run({ [name]: input }, { signal }), [])),
  );
}

/** Embeds windows one after the other. */
class Embedder {
  readonly #parts: WakeWordParts;
  readonly #sound = new Float32Array(CONTEXT + WINDOW);
  readonly #frames: Float32Array;

  constructor(parts: WakeWordParts, frames: Float32Array) {
    this.#parts = parts;
    this.#frames = frames.slice();
  }

  async embed(window: Float32Array, signal: AbortSignal | undefined): Promise<Float32Array> {
    this.#sound.copyWithin(0, WINDOW);
    this.#sound.set(window, CONTEXT);
    const mel = await melFrames(this.#parts.mel, this.#sound, signal);
    this.#frames.copyWithin(0, mel.length);
    this.#frames.set(mel, this.#frames.length - mel.length);
    return await embedFrames(this.#parts.embedding, this.#frames.slice(), signal);
  }
}

/** Hears words window by window. */
class Listener {
  /** Likelihoods of the latest window, by word. */
  scores: Readonly<Record<string, number>> = {};
  readonly #parts: WakeWordParts;
  readonly #embedder: Embedder;
  readonly #embeddings: Float32Array[];
  readonly #options: ListenOptions;
  readonly #heardAt = new Map<string, number>();
  #windows = 0;

  constructor(parts: WakeWordParts, silence: Silence, options: ListenOptions) {
    this.#parts = parts;
    this.#embedder = new Embedder(parts, silence.frames);
    const most = Math.max(...parts.words.map(({ count }) => count));
    this.#embeddings = new Array<Float32Array>(most).fill(silence.embedding);
    this.#options = options;
  }

  async hear(window: Float32Array, signal: AbortSignal | undefined): Promise<HeardWord[]> {
    const { threshold = 0.5, refractoryMs = 2000 } = this.#options;
    this.#embeddings.push(await this.#embedder.embed(window, signal));
    this.#embeddings.shift();
    const time = (++this.#windows * WINDOW) / RATE;
    const heard: HeardWord[] = [];
    const scores: Record<string, number> = {};
    for (const model of this.#parts.words) {
      const { word } = model;
      const score = await this.#score(model, signal);
      scores[word] = score;
      const since = time - (this.#heardAt.get(word) ?? -Infinity);
      if (score < threshold || since * 1000 < refractoryMs) continue;
      this.#heardAt.set(word, time);
      heard.push({ word, score, time });
    }
    this.scores = scores;
    return heard;
  }

  async #score({ session, count }: WordModel, signal: AbortSignal | undefined): Promise<number> {
    const rows = this.#embeddings.slice(-count);
    const size = rows[0]?.length ?? 0;
    const data = new Float32Array(count * size);
    for (const [i, row] of rows.entries()) data.set(row, i * size);
    const name = session.inputs[0]?.name ?? 'input';
    const input = new Tensor('float32', data, [1, count, size]);
    const [score = 0] = numbersOf(outputOf(await session.run({ [name]: input }, { signal }), []));
    return score;
  }
}

/** Hears words in a sound that comes in pieces of any length. */
class WakeWordStream {
  readonly #start: () => Promise<Listener>;
  readonly #windows = new SampleWindows(WINDOW);
  #listener: Listener | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(start: () => Promise<Listener>) {
    this.#start = start;
  }

  /** Likelihoods of the latest window, by word; empty before there was one. */
  get scores(): Readonly<Record<string, number>> {
    return this.#listener?.scores ?? {};
  }

  /**
   * Takes samples at 16,000 a second, from -1 to 1. Resolves to the words that were heard in the windows that they completed;
   * rejects with UsageError for samples that are far from there.
   */
  async push(samples: Float32Array): Promise<HeardWord[]> {
    requireLevels(samples);
    // The samples are the caller's again when this returns.
    const windows = [...this.#windows.push(samples)];
    const heard = this.#last.then(() => this.#hear(windows));
    this.#last = heard.catch(() => undefined);
    return heard;
  }

  async #hear(windows: readonly Float32Array[]): Promise<HeardWord[]> {
    const heard: HeardWord[] = [];
    for (const window of windows) {
      this.#listener ??= await this.#start();
      heard.push(...(await this.#listener.hear(window, undefined)));
    }
    return heard;
  }
}
