import { CompileLimitError } from '../../core/errors.ts';
import type { WorkMeter } from '../../core/limits/work-meter.ts';

/** Steps of compiling a grammar, or of what is asked of it for one token. */
const MAX_STEP_COUNT = 10_000_000;

/** Ends what takes too many steps, on every machine after the same number. */
export class GrammarMeter implements WorkMeter {
  /** The place that is worked at, for messages. */
  where: () => string = () => 'grammar';
  #count = 0;

  /** Throws CompileLimitError. */
  count(steps: number): void {
    this.#count += steps;
    if (this.#count <= MAX_STEP_COUNT) return;
    throw new CompileLimitError({
      where: this.where(),
      got: `a grammar that takes more than ${MAX_STEP_COUNT} steps up to here`,
      expected: 'at most so many',
      remedy: 'Use fewer alternatives, definitions and repetitions.',
    });
  }

  reserve(): void {
    // The places that take memory have limits of their own.
  }
}
