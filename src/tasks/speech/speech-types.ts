import type { Session } from '../../client/session.ts';
import type { TaskTokenizer } from '../task-tokenizer.ts';
import type { JsonObject } from '../task-model.ts';
import type { CallOptions } from '../task-options.ts';
import type { DecoderModels } from './decoder.ts';

/** How one recording is written down. */
export interface TranscribeOptions extends CallOptions {
  /** The code of the language, such as `en`, for a model of several. Default: the likeliest one of the first window. */
  readonly language?: string | undefined;
  /** `translate`: into English, for a model that can. Default `transcribe`. */
  readonly task?: 'transcribe' | 'translate' | undefined;
  /**
   * Asks the model for the begin and end of each segment: Whisper only. Default false: a segment is
   * a window.
   */
  readonly timestamps?: boolean | undefined;
  /** The longest window, in seconds. Default 30, which is also the most of Whisper. */
  readonly windowSeconds?: number | undefined;
  /** Hears how many seconds of how many are done. */
  readonly onProgress?: ((seconds: number, allSeconds: number) => void) | undefined;
}

/** Something that was said without a break. */
export interface TranscriptSegment {
  /** The words. */
  readonly text: string;
  /** Seconds from the begin of the recording. */
  readonly start: number;
  /** Seconds from the begin of the recording. */
  readonly end: number;
}

/** A piece of a text while it is written down. */
export interface TranscriptPiece {
  /** Pieces one behind the other are the text. */
  readonly text: string;
  readonly segment?: TranscriptSegment | undefined;
}

/** The loaded models and files of a task for speech. */
export interface SpeechParts {
  readonly encoder: Session;
  readonly decoder: DecoderModels;
  readonly tokenizer: TaskTokenizer;
  /** `generation_config.json`, and behind it `config.json`. */
  readonly generation: JsonObject;
  readonly preprocessor: JsonObject;
}
