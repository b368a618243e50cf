import { DeviceTensor } from '../../client/values/device-tensor.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { numbersOf } from '../../frontend/decoders/reader/model-folder.ts';
import { TextStream } from '../../text/load/remote-tokenizer.ts';
import { melSpectrogram } from '../sound/mel-spectrogram.ts';
import { Decoder, type EncoderStates } from './decoder.ts';
import type {
  SpeechParts,
  TranscribeOptions,
  TranscriptPiece,
  TranscriptSegment,
} from './speech-types.ts';
import { highest, TIMESTAMP_SECONDS, WhisperRules } from './whisper-rules.ts';

/** Seconds that loudness is measured over, and those that a place to cut at lies in. */
const FRAME_SECONDS = 0.02;
const PAUSE_SECONDS = 0.2;
/** A window is cut at its quietest place behind this share of it. */
const EARLIEST_CUT = 0.5;
/** The loudest frame of silence; samples reach from -1 to 1. */
const SILENCE = 1e-4;

/**
 * Where the window ends that begins at a sample: with the recording, or in the middle of the quietest fifth of a second of what may be
 * its end, the last such place. `most` is the longest window in samples.
 */
export function windowEnd(
  samples: Float32Array,
  from: number,
  { most, sampleRate }: { readonly most: number; readonly sampleRate: number },
): number {
  if (samples.length - from <= most) return samples.length;
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  const begin = from + Math.floor(most * EARLIEST_CUT);
  const count = Math.floor((from + most - begin) / frame);
  const span = Math.min(Math.round(PAUSE_SECONDS / FRAME_SECONDS), count);
  if (span === 0) return from + most;
  const energies = Array.from({ length: count }, (_, i) =>
    energyOf(samples, begin + i * frame, frame),
  );
  let quietest = Infinity;
  let cut = from + most;
  for (let i = 0; i + span <= count; i++) {
    const sum = energies.slice(i, i + span).reduce((a, b) => a + b, 0);
    if (sum > quietest) continue;
    quietest = sum;
    cut = begin + Math.round((i + span / 2) * frame);
  }
  return cut;
}

/** Returns true if no frame of a recording is loud enough to be heard. */
export function isSilent(samples: Float32Array, sampleRate: number): boolean {
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  for (let at = 0; at < samples.length; at += frame) {
    if (energyOf(samples, at, frame) > frame * SILENCE ** 2) return false;
  }
  return true;
}

function energyOf(samples: Float32Array, from: number, count: number): number {
  let sum = 0;
  for (let i = from; i < Math.min(from + count, samples.length); i++) sum += (samples[i] ?? 0) ** 2;
  return sum;
}

/** A recording at the model's rate, and what is to become of it. */
interface TranscriberOrder extends TranscribeOptions {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** A part of a recording, in samples. */
interface Window {
  readonly from: number;
  readonly to: number;
}

const WINDOW_SECONDS = 30;
/** Moonshine writes so many tokens a second at most, so that it does not repeat itself for ever. */
const TOKENS_PER_SECOND = 6.5;
/** Moonshine's convolutions see no less. */
const LEAST_SECONDS = 0.1;
/** How far below the loudest value Whisper tells others apart, in powers of ten. */
const RANGE = 8;

/** Writes down one recording, window by window. */
export class Transcriber {
  language: string | undefined;
  readonly #parts: SpeechParts;
  readonly #order: TranscriberOrder;
  /** Rules of Whisper's tokens; undefined for other models. */
  readonly #rules: WhisperRules | undefined;

  constructor(parts: SpeechParts, order: TranscriberOrder) {
    this.#parts = parts;
    this.#order = order;
    this.language = order.language;
    const isWhisper = parts.encoder.inputs.some(({ name }) => name === 'input_features');
    this.#rules = isWhisper ? new WhisperRules(parts.generation) : undefined;
    const isWanted = order.timestamps === true || (order.language ?? order.task) !== undefined;
    if (!isWhisper && isWanted) {
      throw new UsageError({
        where: 'transcribe',
        got: 'language, task or timestamps for a model that takes input_values',
        expected: 'none of them, because only Whisper has them',
      });
    }
  }

  /** Pieces of the text as they come. */
  async *pieces(): AsyncGenerator<TranscriptPiece, void> {
    const { samples, sampleRate, windowSeconds, signal, onProgress } = this.#order;
    const most = Math.min(windowSeconds ?? WINDOW_SECONDS, this.#mostSeconds()) * sampleRate;
    let hasText = false;
    for (let from = 0; from < samples.length; ) {
      signal?.throwIfAborted();
      const to = windowEnd(samples, from, { most: Math.max(Math.floor(most), 1), sampleRate });
      let next = to;
      if (!isSilent(samples.subarray(from, to), sampleRate)) {
        const window = this.#window({ from, to });
        for (;;) {
          const { done, value } = await window.next();
          if (done === true) {
            next = value;
            break;
          }
          // Whisper's words bring their blanks; Moonshine's windows begin without one.
          const isJoined = hasText && this.#rules === undefined && value.isFirst;
          hasText ||= value.text !== '';
          yield { text: (isJoined ? ' ' : '') + value.text, segment: value.segment };
        }
      }
      from = next;
      onProgress?.(from / sampleRate, samples.length / sampleRate);
    }
  }

  /** The longest window of the model. */
  #mostSeconds(): number {
    const { preprocessor } = this.#parts;
    return this.#rules === undefined
      ? Infinity
      : (numbersOf(preprocessor, 'chunk_length')[0] ?? WINDOW_SECONDS);
  }

  /** Writes down one window. Returns where the next one begins. */
  async *#window(
    window: Window,
  ): AsyncGenerator<TranscriptPiece & { readonly isFirst: boolean }, number> {
    const states = await this.#encode(window);
    const decoder = new Decoder(this.#parts.decoder, states);
    try {
      const text =
        this.#rules === undefined
          ? this.#moonshine(decoder, window)
          : this.#whisper(decoder, this.#rules, { window, states });
      let isFirst = true;
      for (;;) {
        const { done, value } = await text.next();
        if (done === true) return value;
        yield { ...value, isFirst };
        isFirst &&= value.text === '';
      }
    } finally {
      decoder.dispose();
      if (states instanceof DeviceTensor) states.dispose();
    }
  }

  async #encode({ from, to }: Window): Promise<EncoderStates> {
    const { encoder, decoder } = this.#parts;
    const { samples, sampleRate, signal } = this.#order;
    const heard = samples.subarray(from, to);
    const sound = (): Tensor => {
      const count = Math.max(heard.length, Math.ceil(LEAST_SECONDS * sampleRate));
      const data = new Float32Array(count);
      data.set(heard);
      return new Tensor('float32', data, [1, count]);
    };
    const tensor = this.#rules === undefined ? sound() : this.#features(heard);
    const inputs = encoder.inputs.map(({ name, shape }) => {
      if (name === 'input_features' || name === 'input_values') return [name, tensor] as const;
      if (name === 'attention_mask') {
        const count = tensor.shape.at(-1) ?? 0;
        return [name, new Tensor('int64', new BigInt64Array(count).fill(1n), [1, count])] as const;
      }
      const got = `an input ${name} [${shape.join(', ')}]`;
      throw new ShapeError({ where: 'the encoder', got, expected: 'the sound alone' });
    });
    const name = encoder.outputs[0]?.name ?? 'last_hidden_state';
    const isNear =
      decoder.first.accepts(encoder) && decoder.first.device.kind === encoder.device.kind;
    const keep = isNear ? [name] : [];
    const results = await encoder.run(Object.fromEntries(inputs), { signal, keep });
    const states = results[name];
    if (states !== undefined) return states;
    throw new ShapeError({ where: 'the encoder', got: 'no output', expected: 'its states' });
  }

  /** The features that WhisperFeatureExtractor makes of a window that is filled with silence. */
  #features(heard: Float32Array): Tensor {
    const { encoder, preprocessor } = this.#parts;
    const { sampleRate } = this.#order;
    const numberOf = (key: string, otherwise: number): number =>
      numbersOf(preprocessor, key)[0] ?? otherwise;
    const hopLength = numberOf('hop_length', 160);
    const count = numberOf('n_samples', this.#mostSeconds() * sampleRate);
    const frames = Math.min(numberOf('nb_max_frames', Infinity), Math.floor(count / hopLength));
    const fixed = encoder.inputs.find(({ name }) => name === 'input_features')?.shape[1];
    const samples = new Float32Array(count);
    samples.set(heard.subarray(0, count));
    const { data, bands } = melSpectrogram(samples, {
      sampleRate,
      frameLength: numberOf('n_fft', 400),
      hopLength,
      frames,
      bands: numberOf('feature_size', typeof fixed === 'number' ? fixed : 80),
      highest: Math.min(8000, sampleRate / 2),
    });
    const least = data.reduce((a, b) => Math.max(a, b)) - RANGE;
    const features = data.map((value) => (Math.max(value, least) + 4) / 4);
    return new Tensor('float32', features, [1, bands, frames]);
  }

  async *#moonshine(
    decoder: Decoder,
    { from, to }: Window,
  ): AsyncGenerator<TranscriptPiece, number> {
    const { tokenizer, generation } = this.#parts;
    const { sampleRate, signal } = this.#order;
    const [end = 2] = numbersOf(generation, 'eos_token_id');
    const [start = 1] = numbersOf(generation, 'decoder_start_token_id');
    const most = Math.ceil(((to - from) / sampleRate) * TOKENS_PER_SECOND);
    const stream = new TextStream(tokenizer.decodeNext);
    let text = '';
    let token = start;
    for (let count = 0; count < most; count++) {
      signal?.throwIfAborted();
      token = highest(await decoder.read([token], signal));
      if (token === end) break;
      const [shown = ''] = await stream.push([token]);
      text += shown;
      if (shown !== '') yield { text: shown };
    }
    const rest = await stream.end();
    yield { text: rest, segment: this.#segment(text + rest, from, to) };
    return to;
  }

  async *#whisper(
    decoder: Decoder,
    rules: WhisperRules,
    { window, states }: { readonly window: Window; readonly states: EncoderStates },
  ): AsyncGenerator<TranscriptPiece, number> {
    const { samples, sampleRate, task, timestamps = false, signal } = this.#order;
    if (this.language === undefined && rules.languages.length > 0) {
      this.language = await this.#detect(rules, states);
    }
    const begin = rules.begin({ language: this.language, task, timestamps });
    const tokens = [...begin];
    const [most = 448] = numbersOf(this.#parts.generation, 'max_length');
    const text = new WhisperText(this.#parts.tokenizer, rules, timestamps);
    let unread: readonly number[] = begin;
    while (tokens.length < most) {
      signal?.throwIfAborted();
      const logits = await decoder.read(unread, signal);
      const token = rules.choose(logits, tokens, { begin: begin.length, timestamps });
      if (token === rules.end) break;
      tokens.push(token);
      unread = [token];
      const piece = await text.push(token);
      const at = (seconds: number): number =>
        Math.min(window.from + Math.round(seconds * sampleRate), window.to);
      if (piece?.range !== undefined) {
        const [start, end] = piece.range;
        yield { text: piece.text, segment: this.#segment(piece.text, at(start), at(end)) };
      } else if (piece !== undefined) yield { text: piece.text };
    }
    // Of a segment without an end all is heard again from its begin, where something came before it.
    const again = window.from + Math.round((text.lastPair ?? 0) * sampleRate);
    const isCut = again > window.from && again < window.to;
    if (isCut && !isSilent(samples.subarray(again, window.to), sampleRate)) return again;
    const rest = await text.end();
    const from = Math.min(window.from + Math.round(rest.start * sampleRate), window.to);
    if (rest.all.trim() !== '') {
      yield { text: rest.text, segment: this.#segment(rest.all, from, window.to) };
    }
    return window.to;
  }

  async #detect(rules: WhisperRules, states: EncoderStates): Promise<string | undefined> {
    const decoder = new Decoder(this.#parts.decoder, states);
    try {
      return rules.likeliestLanguage(await decoder.read([rules.start], this.#order.signal));
    } finally {
      decoder.dispose();
    }
  }

  #segment(text: string, from: number, to: number): TranscriptSegment | undefined {
    const { sampleRate } = this.#order;
    const words = text.trim();
    return words === ''
      ? undefined
      : { text: words, start: from / sampleRate, end: to / sampleRate };
  }
}

interface WhisperPiece {
  readonly text: string;
  /** Seconds in the window at which the segment that it completes begins and ends. */
  readonly range?: readonly [start: number, end: number];
}

/** The text of Whisper's tokens as they come; with timestamps a segment at a time, because one without an end is heard again. */
class WhisperText {
  /** The second at which a segment ends and another one begins, the last such one; undefined where the last segment has ended. */
  lastPair: number | undefined;
  readonly #rules: WhisperRules;
  readonly #timestamps: boolean;
  readonly #stream: TextStream;
  #start = 0;
  #all = '';
  #wasTime = false;

  constructor(tokenizer: SpeechParts['tokenizer'], rules: WhisperRules, timestamps: boolean) {
    this.#rules = rules;
    this.#timestamps = timestamps;
    this.#stream = new TextStream(tokenizer.decodeNext);
  }

  /** Takes a token. Returns the piece of text that it completes, if any. */
  async push(token: number): Promise<WhisperPiece | undefined> {
    const { firstTimestamp = Infinity } = this.#rules;
    if (this.#timestamps && token >= firstTimestamp) {
      return this.#time((token - firstTimestamp) * TIMESTAMP_SECONDS);
    }
    this.#wasTime = false;
    if (token >= this.#rules.end) return undefined;
    const [text = ''] = await this.#stream.push([token]);
    this.#all += text;
    return text === '' || this.#timestamps ? undefined : { text };
  }

  /** Ends the text. Returns the rest, and with timestamps the last segment, which has no end. */
  async end(): Promise<{ readonly text: string; readonly all: string; readonly start: number }> {
    const rest = await this.#stream.end();
    this.#all += rest;
    return { text: this.#timestamps ? this.#all : rest, all: this.#all, start: this.#start };
  }

  async #time(seconds: number): Promise<WhisperPiece | undefined> {
    if (this.#wasTime) this.lastPair = this.#start;
    this.#wasTime = true;
    const text = this.#all + (await this.#stream.end());
    const start = this.#start;
    this.#all = '';
    this.#start = seconds;
    if (text === '') return undefined;
    // A single timestamp at the end: nothing is said behind it.
    this.lastPair = undefined;
    return { text, range: [start, seconds] };
  }
}
