import { seededRandom } from '../../../src/core/random.ts';

/** What a draft draws, by a seed. */
export class Draws {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** An integer from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}
