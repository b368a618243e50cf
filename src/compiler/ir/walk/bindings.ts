/** Names of nested scopes; the innermost hides the others. */
export class Bindings<T> {
  readonly #values = new Map<string, Binding<T>[]>();
  readonly #scopes: string[][] = [[]];

  enter(): void {
    this.#scopes.push([]);
  }

  exit(): void {
    for (const name of this.#scopes.pop() ?? []) this.#values.get(name)?.pop();
  }

  /** Returns false, and keeps the first, when this scope has the name already. */
  define(name: string, value: T): boolean {
    return this.#put(name, { value, depth: this.#scopes.length, isAssumed: false });
  }

  /** Like `define`, but a definition may follow in the same scope. */
  assume(name: string, value: T): void {
    this.#put(name, { value, depth: this.#scopes.length, isAssumed: true });
  }

  lookup(name: string): T | undefined {
    return this.#values.get(name)?.at(-1)?.value;
  }

  names(): string[] {
    return [...this.#values].flatMap(([name, values]) => (values.length > 0 ? [name] : []));
  }

  #put(name: string, binding: Binding<T>): boolean {
    const bindings = this.#values.get(name) ?? [];
    this.#values.set(name, bindings);
    const last = bindings.at(-1);
    if (last?.depth !== binding.depth) {
      bindings.push(binding);
      this.#scopes.at(-1)?.push(name);
    } else if (last.isAssumed) {
      bindings.splice(-1, 1, binding);
    } else {
      return false;
    }
    return true;
  }
}

interface Binding<T> {
  readonly value: T;
  /** The number of scopes that are open where it is bound. */
  readonly depth: number;
  readonly isAssumed: boolean;
}
