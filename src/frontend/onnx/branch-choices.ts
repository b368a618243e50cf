/** Every choice doubles what there is to try. */
const MAX_ATTEMPTS = 32;

/**
 * Which branch of an `If` is taken where the branches give tensors of different ranks, so that what
 * follows can be imported for one of them only. A model is imported once for each combination until
 * one goes through; the program then checks the condition.
 */
export class BranchChoices {
  /** By the order in which the importer comes to them. */
  readonly #taken: ('then' | 'else')[] = [];
  #next = 0;
  #attempts = 1;

  /** The choice for the `If` that the importer has come to. */
  choose(): 'then' | 'else' {
    const taken = this.#taken[this.#next] ?? 'then';
    this.#taken[this.#next++] = taken;
    return taken;
  }

  /** Goes on to the next combination. False when there is none. */
  advance(): boolean {
    this.#next = 0;
    while (this.#taken.at(-1) === 'else') this.#taken.pop();
    if (this.#taken.length === 0 || this.#attempts++ >= MAX_ATTEMPTS) return false;
    this.#taken[this.#taken.length - 1] = 'else';
    return true;
  }
}
