/** How much a {@link OneEuroFilter} smooths. */
export interface OneEuroOptions {
  /** The cutoff in hertz for values that stand still: the lower, the smoother. */
  readonly cutoff: number;
  /** By how much the cutoff grows with the speed: the higher, the less values lag behind. */
  readonly speed: number;
}

/** The cutoff of speeds, in hertz. */
const SPEED_CUTOFF = 1;

/**
 * The one-euro filter of Casiez, Roussel and Vogel (CHI 2012) for lists of values: a low-pass filter whose cutoff follows the speed, so that
 * what stands still does not tremble, and what moves does not lag.
 */
export class OneEuroFilter {
  readonly #options: OneEuroOptions;
  #last: { values: number[]; smooth: number[]; speeds: number[]; timeMs: number } | undefined;

  constructor(options: OneEuroOptions) {
    this.#options = options;
  }

  /** The values of a time, smoothed. Speeds are measured in units of `scale`. What is not later than the last values is not smoothed. */
  smooth(values: readonly number[], timeMs: number, scale = 1): readonly number[] {
    const last = this.#last;
    if (last === undefined || last.values.length !== values.length) {
      this.#last = {
        values: [...values],
        smooth: [...values],
        speeds: values.map(() => 0),
        timeMs,
      };
      return values;
    }
    const seconds = (timeMs - last.timeMs) / 1000;
    if (!(seconds > 0)) return values;
    const { cutoff, speed } = this.#options;
    const speeds = values.map((value, i) => {
      const raw = (value - (last.values[i] ?? value)) / scale / seconds;
      return mixed(last.speeds[i] ?? 0, raw, shareOf(SPEED_CUTOFF, seconds));
    });
    const smooth = values.map((value, i) => {
      const own = cutoff + speed * Math.abs(speeds[i] ?? 0);
      return mixed(last.smooth[i] ?? value, value, shareOf(own, seconds));
    });
    this.#last = { values: [...values], smooth, speeds, timeMs };
    return smooth;
  }
}

/** The share of a new value in a low-pass filter of a cutoff in hertz. */
const shareOf = (cutoff: number, seconds: number): number =>
  1 / (1 + 1 / (2 * Math.PI * cutoff * seconds));

const mixed = (old: number, fresh: number, share: number): number => old + share * (fresh - old);
