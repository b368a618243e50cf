import type { Landmark } from './landmarks.ts';
import { OneEuroFilter, type OneEuroOptions } from './one-euro.ts';

/** Landmarks of bodies and faces hardly tremble with it, and follow fast moves. */
const LANDMARKS: OneEuroOptions = { cutoff: 0.05, speed: 80 };

/** Smooths the places of landmarks, frame after frame. */
export class LandmarkFilter {
  readonly #filter: OneEuroFilter;

  constructor(options: OneEuroOptions = LANDMARKS) {
    this.#filter = new OneEuroFilter(options);
  }

  /** Landmarks of a time. Speeds are measured in sizes of the thing. */
  smooth<Point extends Landmark>(
    points: readonly Point[],
    { timeMs, scale }: { readonly timeMs: number; readonly scale: number },
  ): Point[] {
    const numbers = points.flatMap(({ x, y, z }) => [x, y, z]);
    const smooth = this.#filter.smooth(numbers, timeMs, scale);
    return points.map((point, i) => {
      const [x = 0, y = 0, z = 0] = smooth.slice(i * 3, i * 3 + 3);
      return { ...point, x, y, z };
    });
  }
}
