import { checkOptions, oneOf } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import type { TextTokenizer } from '../../text/load/remote-tokenizer.ts';
import { readSound, type Sound } from '../sound/sound.ts';
import { requireLoaded, Task } from '../task.ts';
import {
  filesOf,
  findFile,
  type JsonObject,
  loadTask,
  readJson,
  type TaskFolder,
} from '../task-model.ts';
import { TASK_OPTIONS, type TaskOptions } from '../task-options.ts';
import type {
  SpeechParts,
  TranscribeOptions,
  TranscriptPiece,
  TranscriptSegment,
} from './speech-types.ts';

/** How models that write down speech are loaded. */
export interface SpeechToTextOptions extends Omit<TaskOptions, 'file'> {
  /** The encoder in the folder. Default: the first that is there of `encoder_model.weft`, `onnx/encoder_model.onnx` and so on. */
  readonly encoder?: string | undefined;
  /** The decoder. Default: `decoder_model_merged`, else `decoder_model` with `decoder_with_past_model` where that is there. */
  readonly decoder?: string | undefined;
  /** The content of `generation_config.json`, in its place. */
  readonly generation?: Readonly<Record<string, unknown>> | undefined;
}

/** All that was said. */
export interface Transcript {
  /** The text of all segments. */
  readonly text: string;
  /** The segments, in the order in which they were said. */
  readonly segments: readonly TranscriptSegment[];
  /** The code of its language, where the model tells languages apart. */
  readonly language: string | undefined;
}

/**
 * Loads models that write down speech: Whisper's (`input_features`) or Moonshine's (`input_values`), each an encoder and a decoder, in a
 * folder with `tokenizer.json`, `tokenizer_config.json`, and perhaps `config.json`, `generation_config.json` and
 * `preprocessor_config.json`. Rejects as `Session.load` does, with DownloadError where the tokenizer is not there, and with ShapeError
 * for other models.
 */
export async function speechToText(
  source: TaskFolder,
  options: SpeechToTextOptions = {},
): Promise<SpeechToText> {
  const { file: _, ...kinds } = TASK_OPTIONS;
  checkOptions<SpeechToTextOptions>('speechToText', options, {
    encoder: 'text',
    decoder: 'text',
    generation: 'object',
    ...kinds,
  });
  const { encoder, decoder, generation, ...place } = options;
  const { cache, signal } = options;
  return loadTask(async (load, readTokenizer) => {
    const heard = await load(source, { ...place, file: encoder }, filesOf('encoder_model'));
    const [tokenizer, said] = await Promise.all([
      readTokenizer(heard.read, place),
      generation ?? readJson(heard.read, 'generation_config.json', signal),
    ]);
    const later = { ...place, config: {}, preprocessor: {} };
    const decoders = [...filesOf('decoder_model_merged'), ...filesOf('decoder_model')];
    const { session: first } = await load(source, { ...later, file: decoder }, decoders);
    let next: Session | undefined = takesPast(first) ? first : undefined;
    if (next === undefined && decoder === undefined) {
      const names = filesOf('decoder_with_past_model');
      const file = await findFile(source, names, { cache: cache ?? true, signal });
      if (file !== undefined) next = (await load(source, { ...later, file })).session;
    }
    return new SpeechToText({
      encoder: heard.session,
      decoder: { first, next },
      tokenizer,
      generation: { ...heard.config, ...said },
      preprocessor: heard.preprocessor ?? {},
    });
  });
}

/** Returns true if a decoder takes keys and values of earlier steps. */
function takesPast({ inputs }: Session): boolean {
  return inputs.some(({ name }) => name.startsWith('past_key_values.'));
}

/** Writes down speech. */
export class SpeechToText extends Task {
  /** Turns text into its tokens and back. */
  readonly tokenizer: TextTokenizer;
  /** Samples of a second that the model hears. */
  readonly sampleRate: number;
  /** Codes of the languages that it tells apart; none for a model of one language. */
  readonly languages: readonly string[];
  readonly #parts: SpeechParts;

  /** @internal */
  constructor(parts: SpeechParts) {
    requireLoaded(Object(parts).encoder);
    const { encoder, decoder, generation, preprocessor } = parts;
    const { first, next } = decoder;
    const later = next === undefined || next === first ? [] : [next];
    super([encoder, first, ...later], parts.tokenizer);
    const names = encoder.inputs.map(({ name }) => name);
    if (!names.includes('input_features') && !names.includes('input_values')) {
      throw new ShapeError({
        where: 'the encoder',
        got: `inputs ${names.join(', ')}`,
        expected: 'input_features, as Whisper has it, or input_values, as Moonshine has it',
      });
    }
    this.tokenizer = parts.tokenizer;
    const { sampling_rate: rate } = preprocessor;
    this.sampleRate = typeof rate === 'number' ? rate : 16_000;
    const ids = Object.keys(Object(generation['lang_to_id']) as JsonObject);
    this.languages = ids.map((name) => name.replaceAll(/^<\||\|>$/g, ''));
    this.#parts = parts;
  }

  /**
   * Begins to write down a recording when it is iterated over, or its whole is asked for. A long one is cut into windows, where it is
   * quiet. Throws UsageError for wrong options.
   */
  transcribe(sound: Sound, options: TranscribeOptions = {}): Transcription {
    checkOptions<TranscribeOptions>('transcribe', options, {
      language: 'text',
      task: oneOf('transcribe', 'translate'),
      timestamps: 'boolean',
      windowSeconds: 'positive',
      onProgress: 'function',
      signal: 'signal',
    });
    const { sampleRate } = this;
    return new Transcription(async () => {
      options.signal?.throwIfAborted();
      const [samples, { Transcriber }] = await Promise.all([
        readSound(sound, sampleRate),
        import('./transcriber.ts'),
      ]);
      return new Transcriber(this.#parts, { samples, sampleRate, ...options });
    });
  }
}

/** A recording on its way to text. */
interface Transcribing {
  /** Known once the first window is heard. */
  readonly language: string | undefined;
  pieces(): AsyncGenerator<TranscriptPiece, void>;
}

/** A recording that is being written down. Iterate over its pieces as they come, or wait for the whole; once. */
class Transcription implements AsyncIterable<TranscriptPiece> {
  readonly #start: () => Promise<Transcribing>;
  #isStarted = false;

  /** @internal */
  constructor(start: () => Promise<Transcribing>) {
    this.#start = start;
  }

  /** Pieces of text as they are written down. Rejects with UsageError for no sound, and with the signal's reason. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TranscriptPiece, void> {
    yield* (await this.#begin()).pieces();
  }

  /** The whole text. Rejects as the iteration does. */
  async text(): Promise<string> {
    return (await this.whole()).text;
  }

  /** All of it: text, segments and language. Rejects as the iteration does. */
  async whole(): Promise<Transcript> {
    const transcribing = await this.#begin();
    let text = '';
    const segments: TranscriptSegment[] = [];
    for await (const piece of transcribing.pieces()) {
      text += piece.text;
      if (piece.segment !== undefined) segments.push(piece.segment);
    }
    return { text: text.trim(), segments, language: transcribing.language };
  }

  #begin(): Promise<Transcribing> {
    if (this.#isStarted) {
      const expected = 'one iteration, or one call of text or whole';
      throw new UsageError({ where: 'Transcription', got: 'a second use', expected });
    }
    this.#isStarted = true;
    return this.#start();
  }
}
