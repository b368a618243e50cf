import { CompileLimitError } from '../../../core/errors.ts';

/** The stack of a rule at whose end the text ends. */
export const EMPTY_STACK = 0;
/** The stack of a rule of which it is not known who called it. */
export const UNKNOWN_STACK = 1;

/** Stacks and states have numbers that fit into one number together with a node of a vocabulary. */
export const MAX_STACK_COUNT = 1 << 17;

/** Stacks of states to return to, each stored once, so that equal stacks have equal numbers. */
export class Stacks {
  readonly #states: number[] = [0, 0];
  readonly #parents: number[] = [0, 0];
  readonly #indices = new Map<number, number>();

  /** Throws CompileLimitError when there are too many different ones. */
  push(stack: number, state: number): number {
    const key = state * MAX_STACK_COUNT + stack;
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    const index = this.#states.push(state) - 1;
    if (index >= MAX_STACK_COUNT) {
      throw new CompileLimitError({
        where: 'grammar',
        got: `more than ${MAX_STACK_COUNT} different stacks of open rules in one text`,
        expected: 'at most so many',
        remedy: 'Limit how deep rules may be inside each other, or make them less ambiguous.',
      });
    }
    this.#parents.push(stack);
    this.#indices.set(key, index);
    return index;
  }

  /** The state to which the rule on top returns. */
  top(stack: number): number {
    return this.#states[stack] ?? 0;
  }

  /** The stack that is left then. */
  below(stack: number): number {
    return this.#parents[stack] ?? 0;
  }
}
