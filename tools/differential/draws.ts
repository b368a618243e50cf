import { seededRandom } from '../../src/core/random.ts';

/** A seeded source of what a random case is made of. */
export class Draws {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** Passes over the first numbers: neighbouring seeds begin alike. */
  protected skipFirst(): void {
    for (let i = 0; i < 4; i++) this.random();
  }

  /** An integer from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** True in a part of the cases. */
  often(part: number): boolean {
    return this.random() < part;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('internal: nothing to pick from');
    return item;
  }
}
