/** Where everybody and everything is at some moment of a story. */
export class StoryWorld {
  readonly #placeOf = new Map<string, string>();
  readonly #holderOf = new Map<string, string>();
  readonly #containerOf = new Map<string, string>();
  /** The people of the last sentence's subject, for whom a pronoun may stand. */
  focus: readonly string[] = [];

  place(person: string): string | undefined {
    return this.#placeOf.get(person);
  }

  holder(object: string): string | undefined {
    return this.#holderOf.get(object);
  }

  container(object: string): string | undefined {
    return this.#containerOf.get(object);
  }

  held(person: string): string[] {
    return [...this.#holderOf].filter(([, holder]) => holder === person).map(([object]) => object);
  }

  move(people: readonly string[], place: string): void {
    for (const person of people) this.#placeOf.set(person, place);
  }

  give(object: string, person: string): void {
    this.#containerOf.delete(object);
    this.#holderOf.set(object, person);
  }

  put(object: string, container: string): void {
    this.#holderOf.delete(object);
    this.#containerOf.set(object, container);
  }
}
