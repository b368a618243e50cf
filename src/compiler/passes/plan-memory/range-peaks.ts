/**
 * Numbers by index, for which adding to a range and the greatest of a range take logarithmic time: a
 * segment tree whose additions stay at the nodes that they cover.
 */
export class RangePeaks {
  readonly #leafCount: number;
  /** The sum added to all of a node. */
  readonly #added: Float64Array;
  /** The greatest below a node, its own additions included. */
  readonly #peak: Float64Array;

  constructor(values: readonly number[]) {
    this.#leafCount = 2 ** Math.ceil(Math.log2(Math.max(values.length, 1)));
    this.#added = new Float64Array(2 * this.#leafCount);
    this.#peak = new Float64Array(2 * this.#leafCount);
    this.#peak.set(values, this.#leafCount);
    for (let node = this.#leafCount - 1; node > 0; node--) this.#update(node);
  }

  /** The greatest from `first` to `last`, both included; -Infinity of an empty range. */
  peak(first: number, last: number): number {
    let result = -Infinity;
    for (const node of this.#cover(first, last)) {
      let value = this.#at(this.#peak, node);
      for (let above = node >> 1; above > 0; above >>= 1) value += this.#at(this.#added, above);
      result = Math.max(result, value);
    }
    return result;
  }

  /** Adds to all from `first` to `last`, both included. */
  add(first: number, last: number, amount: number): void {
    const nodes = this.#cover(first, last);
    for (const node of nodes) {
      this.#added[node] = this.#at(this.#added, node) + amount;
      this.#peak[node] = this.#at(this.#peak, node) + amount;
    }
    for (const node of nodes) for (let up = node >> 1; up > 0; up >>= 1) this.#update(up);
  }

  /** The fewest nodes that cover a range. */
  #cover(first: number, last: number): number[] {
    const nodes: number[] = [];
    let low = first + this.#leafCount;
    let high = last + this.#leafCount + 1;
    for (; low < high; low >>= 1, high >>= 1) {
      if (low % 2 === 1) nodes.push(low++);
      if (high % 2 === 1) nodes.push(--high);
    }
    return nodes;
  }

  #update(node: number): void {
    const below = Math.max(this.#at(this.#peak, 2 * node), this.#at(this.#peak, 2 * node + 1));
    this.#peak[node] = below + this.#at(this.#added, node);
  }

  #at(array: Float64Array, index: number): number {
    return array[index] ?? 0;
  }
}
