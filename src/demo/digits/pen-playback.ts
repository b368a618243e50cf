import type { Stroke } from './rasterize-drawing.ts';

const FRAME_MS = 50;
/** So many points appear with each frame. */
const POINTS_PER_FRAME = 1;
/** A written digit stays so long. */
const REST_MS = 1300;

export interface PenPlaybackOptions {
  /** The strokes of the next drawing, in any unit. */
  next(): readonly Stroke[];
  /** Gets what is written so far, whenever the pen has moved. */
  show(strokes: readonly Stroke[]): void;
}

/** Writes one drawing after the other, as a pen would. */
export class PenPlayback {
  readonly #options: PenPlaybackOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PenPlaybackOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  start(): void {
    this.stop();
    this.#write(this.#options.next(), POINTS_PER_FRAME);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #write(strokes: readonly Stroke[], count: number): void {
    this.#options.show(firstPoints(strokes, count));
    const isWhole = count >= strokes.flat().length;
    this.#timer = isWhole
      ? setTimeout(() => this.start(), REST_MS)
      : setTimeout(() => this.#write(strokes, count + POINTS_PER_FRAME), FRAME_MS);
  }
}

/** The strokes up to their `count`th point, which a pen has reached then. */
export function firstPoints(strokes: readonly Stroke[], count: number): Stroke[] {
  const begun: Stroke[] = [];
  let left = count;
  for (const stroke of strokes) {
    if (left <= 0) break;
    begun.push(stroke.slice(0, left));
    left -= stroke.length;
  }
  return begun;
}
