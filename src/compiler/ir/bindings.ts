/** Names of nested scopes; the innermost hides the others. */
export class Bindings<T> {
  readonly #values = new Map<string, { readonly value: T; readonly depth: number }[]>();
  readonly #scopes: string[][] = [[]];

  enter(): void {
    this.#scopes.push([]);
  }

  exit(): void {
    for (const name of this.#scopes.pop() ?? []) this.#values.get(name)?.pop();
  }

  /** Returns false, and keeps the first, when this scope has the name already. */
  define(name: string, value: T): boolean {
    const depth = this.#scopes.length;
    const values = this.#values.get(name);
    if (values?.at(-1)?.depth === depth) return false;
    if (values === undefined) this.#values.set(name, [{ value, depth }]);
    else values.push({ value, depth });
    this.#scopes.at(-1)?.push(name);
    return true;
  }

  lookup(name: string): T | undefined {
    return this.#values.get(name)?.at(-1)?.value;
  }

  /** The names that are visible here. */
  names(): string[] {
    return [...this.#values].flatMap(([name, values]) => (values.length > 0 ? [name] : []));
  }
}
