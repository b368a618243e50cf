import { checkOptions } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { Task } from '../task.ts';
import type { CallOptions } from '../task-options.ts';
import { type Frame, newestFrames, type Watched } from './newest-frames.ts';

/** The frame that a result is of. Landmarks are in pixels of it: `x / width` and `y / height` are shares of it. */
export interface LiveResult extends Size {
  /** When the frame was there, in milliseconds of `performance.now()`. */
  readonly timestamp: number;
}

/** What is asked of a frame, by one watcher of one video after another. */
export type Follow<Result> = (
  picture: Picture,
  options: CallOptions & { readonly timeMs: number },
) => Promise<Result>;

/** The base of tasks for pictures and video. */
export abstract class LiveTask<Result extends LiveResult> extends Task {
  readonly #follow: () => Follow<Result>;

  /** @internal */
  constructor(
    sessions: readonly [Session, ...Session[]],
    /** Begins to follow: what it gives keeps in mind what was where in the frame before. */
    follow: () => Follow<Result>,
  ) {
    super(sessions);
    this.#follow = follow;
  }

  /** What is in one picture, without what was in others. Rejects with UsageError for a picture without pixels. */
  async detect(picture: Picture, options: CallOptions = {}): Promise<Result> {
    checkOptions<CallOptions>('detect', options, { signal: 'signal' });
    return this.#follow()(picture, { timeMs: performance.now(), ...options });
  }

  /**
   * What is in a video or stream, for as long as it goes on: each time the newest frame, never a queue. What was found is followed from
   * frame to frame. Leaving the loop ends it. Rejects with the reason of the signal. Throws UsageError for what cannot be watched.
   */
  watch(watched: Watched, options: CallOptions = {}): AsyncGenerator<Result> {
    checkOptions<CallOptions>('watch', options, { signal: 'signal' });
    return followed(newestFrames(watched, options), this.#follow(), options);
  }
}

async function* followed<Result>(
  frames: AsyncGenerator<Frame>,
  follow: Follow<Result>,
  { signal }: CallOptions,
): AsyncGenerator<Result> {
  for await (const { picture, timeMs } of frames) yield await follow(picture, { timeMs, signal });
}
