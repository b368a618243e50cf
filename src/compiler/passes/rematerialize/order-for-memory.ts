import type { BlockNode, Entry } from './block-nodes.ts';

/**
 * An order of the steps in which a kernel comes as soon as its operands are there, if it frees more than it takes: the
 * gradient of a weight, which two large values give, before the next layer's. All else stays in its order.
 */
export function orderForMemory(nodes: readonly BlockNode[]): readonly Entry[] {
  return new MemoryOrder(nodes).run();
}

class MemoryOrder {
  readonly #nodes: readonly BlockNode[];
  readonly #readers: readonly (readonly number[])[];
  /** How many operands of a step are not there yet. */
  readonly #missing: number[];
  /** How many steps have yet to read the memory of a step. */
  readonly #waiting: number[];
  readonly #ready = new Set<number>();
  readonly #done = new Set<number>();
  readonly #entries: Entry[] = [];

  constructor(nodes: readonly BlockNode[]) {
    this.#nodes = nodes;
    const readers: number[][] = nodes.map(() => []);
    this.#missing = nodes.map(({ reads }) => new Set(reads).size);
    this.#waiting = nodes.map(() => 0);
    for (const [index, { reads, holds }] of nodes.entries()) {
      for (const read of new Set(reads)) readers[read]?.push(index);
      for (const held of new Set(holds)) this.#waiting[held] = (this.#waiting[held] ?? 0) + 1;
    }
    this.#readers = readers;
  }

  run(): readonly Entry[] {
    for (const [index, { isMovable }] of this.#nodes.entries()) {
      if (isMovable && this.#missing[index] === 0) this.#ready.add(index);
    }
    for (const index of this.#nodes.keys()) {
      for (let next = this.#freeing(); next !== undefined; next = this.#freeing()) this.#emit(next);
      if (!this.#done.has(index)) this.#emit(index);
    }
    return this.#entries;
  }

  /** The step that frees most, of those that free anything. */
  #freeing(): number | undefined {
    let best: number | undefined;
    let most = 0;
    for (const index of this.#ready) {
      const freed = this.#freedBy(index);
      if (freed > most) [best, most] = [index, freed];
    }
    return best;
  }

  #freedBy(index: number): number {
    const node = this.#nodes[index];
    if (node === undefined) return 0;
    // A result is held in the end whenever it is computed.
    let freed = node.escapes ? 0 : -node.byteLength;
    for (const held of new Set(node.holds)) {
      const operand = this.#nodes[held];
      if (this.#waiting[held] === 1 && operand?.escapes === false) freed += operand.byteLength;
    }
    return freed;
  }

  #emit(index: number): void {
    this.#done.add(index);
    this.#ready.delete(index);
    this.#entries.push({ node: index, isAgain: false });
    for (const held of new Set(this.#nodes[index]?.holds)) {
      this.#waiting[held] = (this.#waiting[held] ?? 0) - 1;
    }
    for (const reader of this.#readers[index] ?? []) {
      this.#missing[reader] = (this.#missing[reader] ?? 0) - 1;
      const isReady = this.#missing[reader] === 0 && !this.#done.has(reader);
      if (isReady && this.#nodes[reader]?.isMovable === true) this.#ready.add(reader);
    }
  }
}
