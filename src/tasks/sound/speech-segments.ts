/** A stretch of speech. */
export interface SpeechSegment {
  /** Seconds from the begin of the sound. */
  readonly start: number;
  /** Seconds from the begin of the sound. */
  readonly end: number;
}

/** Limits of likelihood and length from which sound is speech. */
interface SegmentOptions {
  /** Speech begins with a window from this likelihood on, and ends below 0.15 less. */
  readonly threshold: number;
  /** Shorter stretches are left out. */
  readonly leastSpeechMs: number;
  /** Shorter pauses do not end speech. */
  readonly leastSilenceMs: number;
  /** Added before and behind each stretch. */
  readonly padMs: number;
}

const HYSTERESIS = 0.15;

/** Finds stretches of speech while likelihoods of windows come in, as `get_speech_timestamps` of silero-vad does. */
export class SegmentFinder {
  readonly #options: SegmentOptions;
  readonly #windowMs: number;
  #window = 0;
  #start: number | undefined;
  #silence: number | undefined;

  constructor(options: SegmentOptions, windowMs: number) {
    this.#options = options;
    this.#windowMs = windowMs;
  }

  /** True if the latest window belongs to speech. */
  get isSpeech(): boolean {
    return this.#start !== undefined;
  }

  /** Takes the next window. Gives the stretch, in milliseconds without padding, that ended before it. */
  push(likelihood: number): readonly [start: number, end: number] | undefined {
    const at = this.#window++ * this.#windowMs;
    const { threshold, leastSilenceMs } = this.#options;
    if (likelihood >= threshold) {
      this.#silence = undefined;
      this.#start ??= at;
      return undefined;
    }
    if (this.#start === undefined || likelihood >= threshold - HYSTERESIS) return undefined;
    this.#silence ??= at;
    return at - this.#silence < leastSilenceMs ? undefined : this.#close(this.#silence);
  }

  /** The stretch that had not ended with the last window. */
  end(): readonly [start: number, end: number] | undefined {
    const end = this.#window * this.#windowMs;
    return this.#start === undefined ? undefined : this.#close(end);
  }

  #close(end: number): readonly [start: number, end: number] | undefined {
    const start = this.#start ?? end;
    this.#start = undefined;
    this.#silence = undefined;
    return end - start < this.#options.leastSpeechMs ? undefined : [start, end];
  }
}

/** Stretches with padding, of which neighbours share the pause between them where it is too short for both. */
export function padded(
  stretches: readonly (readonly [start: number, end: number])[],
  { padMs, endMs }: { readonly padMs: number; readonly endMs: number },
): SpeechSegment[] {
  return stretches.map(([start, end], i) => {
    const before = stretches[i - 1]?.[1];
    const next = stretches[i + 1]?.[0];
    const first = before === undefined ? 0 : (before + start) / 2;
    const last = next === undefined ? endMs : (end + next) / 2;
    return {
      start: Math.max(start - padMs, first) / 1000,
      end: Math.min(end + padMs, last) / 1000,
    };
  });
}
