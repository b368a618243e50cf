/** Values by key, of which the one that was used longest ago goes when there are too many. */
export class LeastRecent<V> {
  readonly #most: number;
  readonly #onDrop: ((value: V) => void) | undefined;
  /** The one that was used last at the end. */
  readonly #values = new Map<string, V>();

  constructor(most: number, onDrop?: (value: V) => void) {
    this.#most = most;
    this.#onDrop = onDrop;
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  /** The value of the key, which is made where there is none. */
  of(key: string, make: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#values.set(key, value);
    const [oldest] = this.#values;
    if (this.#values.size > this.#most && oldest !== undefined) {
      this.#values.delete(oldest[0]);
      this.#onDrop?.(oldest[1]);
    }
    return value;
  }

  clear(): void {
    for (const value of this.#values.values()) this.#onDrop?.(value);
    this.#values.clear();
  }
}
