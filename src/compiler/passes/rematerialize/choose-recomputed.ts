import { type BlockNode, type Entry, inOrder, type Peak, peakOf } from './block-nodes.ts';

/** Steps with some of them computed again, and the peak of them. */
interface Recomputation {
  readonly entries: readonly Entry[];
  readonly peak: Peak;
}

/**
 * Which values to compute again after the peak instead of keeping them. The steps before the peak are cut into
 * segments; what is alive at a cut is kept, and what a segment computed is computed again, from there, by the first later
 * step that reads it (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016). Of the numbers of segments
 * that stay within `byteLength` the one that computes least again; without any, the one of the lowest peak.
 */
export function chooseRecomputed(
  nodes: readonly BlockNode[],
  peak: Peak,
  byteLength: number,
): Recomputation {
  const segments = new Segments(nodes, peak.at);
  let lowest: Candidate = { kept: new Set(), entries: inOrder(nodes), peak };
  let cheapest: Candidate | undefined;
  for (let cuts = 0; cuts <= segments.candidates; cuts += Math.max(1, cuts >> 2)) {
    const kept = segments.keptAt(cuts);
    const entries = segments.entries(kept);
    const found = { kept, entries, peak: peakOf(nodes, entries) };
    if (found.peak.byteLength < lowest.peak.byteLength) lowest = found;
    // The more cuts, the more is kept.
    if (found.peak.byteLength <= byteLength) cheapest = found;
  }
  if (cheapest === undefined) return lowest;
  return segments.keepDearest(cheapest, byteLength);
}

interface Candidate extends Recomputation {
  readonly kept: ReadonlySet<number>;
}

/** The steps up to a peak, to be cut into segments. */
class Segments {
  readonly #nodes: readonly BlockNode[];
  readonly #peak: number;
  /** The last step up to the peak that reads a value. */
  readonly #lastBefore: readonly number[];
  /** Values that are alive at the peak and may be computed again, in their order. */
  readonly #late: readonly number[];
  /** Bytes that are kept if a cut comes after a step. */
  readonly #frontier: readonly number[];

  constructor(nodes: readonly BlockNode[], peak: number) {
    this.#nodes = nodes;
    this.#peak = peak;
    const lastBefore = nodes.map((_, index) => index);
    const isLate = new Set<number>();
    for (const [index, { holds }] of nodes.entries()) {
      for (const held of holds) {
        if (index <= peak) lastBefore[held] = index;
        else if (held <= peak) isLate.add(held);
      }
    }
    this.#lastBefore = lastBefore;
    this.#late = [...isLate].filter((index) => this.#isRepeatable(index)).sort((a, b) => a - b);
    const changes = new Array<number>(peak + 2).fill(0);
    for (let index = 0; index <= peak; index++) {
      if (!this.#isRepeatable(index)) continue;
      const bytes = nodes[index]?.byteLength ?? 0;
      const last = lastBefore[index] ?? index;
      changes[index] = (changes[index] ?? 0) + bytes;
      changes[last] = (changes[last] ?? 0) - bytes;
    }
    let sum = 0;
    this.#frontier = changes.map((change) => (sum += change));
  }

  /** How many values may be computed again instead of being kept. */
  get candidates(): number {
    return this.#late.length;
  }

  #isRepeatable(index: number): boolean {
    return index <= this.#peak && this.#nodes[index]?.isRepeatable === true;
  }

  /** Indices of the values that are kept with so many cuts, at about equal distances in bytes. */
  keptAt(count: number): ReadonlySet<number> {
    const kept = new Set<number>();
    const cuts = this.#cuts(count);
    let next = 0;
    for (let index = 0; index <= this.#peak; index++) {
      // The first cut that comes after it.
      while ((cuts[next] ?? Infinity) < index) next++;
      const isRead = (cuts[next] ?? Infinity) < (this.#lastBefore[index] ?? index);
      if (isRead && this.#isRepeatable(index)) kept.add(index);
    }
    return kept;
  }

  #cuts(count: number): readonly number[] {
    const total = this.#late.reduce((sum, index) => sum + this.#bytesOf(index), 0);
    const cuts: number[] = [];
    let sum = 0;
    for (const [i, index] of this.#late.entries()) {
      sum += this.#bytesOf(index);
      if (cuts.length >= count || sum * (count + 1) < total * (cuts.length + 1)) continue;
      const next = this.#late[i + 1] ?? this.#peak;
      cuts.push(this.#narrowest(index, next));
    }
    return cuts;
  }

  /** The first step at which least is alive, from one step up to another. */
  #narrowest(from: number, to: number): number {
    let best = from;
    for (let at = from; at < to; at++) {
      if ((this.#frontier[at] ?? 0) < (this.#frontier[best] ?? 0)) best = at;
    }
    return best;
  }

  #bytesOf(index: number): number {
    return this.#nodes[index]?.byteLength ?? 0;
  }

  /** The steps, with all that is not kept computed again where it is read after the peak. */
  entries(kept: ReadonlySet<number>): readonly Entry[] {
    const entries: Entry[] = [];
    const again = new Set<number>();
    const isGone = (index: number): boolean =>
      this.#isRepeatable(index) && !kept.has(index) && !again.has(index);
    for (const [index, { reads }] of this.#nodes.entries()) {
      if (index > this.#peak) {
        const work = reads.filter(isGone);
        for (let next = work.at(-1); next !== undefined; next = work.at(-1)) {
          const missing = isGone(next) ? (this.#nodes[next]?.reads ?? []).filter(isGone) : [];
          if (missing.length > 0) work.push(...missing);
          else {
            work.pop();
            if (isGone(next)) entries.push({ node: next, isAgain: true });
            again.add(next);
          }
        }
      }
      entries.push({ node: index, isAgain: false });
    }
    return entries;
  }

  /** Keeps what takes most work for its bytes, as far as the peak stays within them. */
  keepDearest(found: Candidate, byteLength: number): Recomputation {
    const again = found.entries.flatMap(({ node, isAgain }) => (isAgain ? [node] : []));
    const price = (index: number): number =>
      (this.#nodes[index]?.work ?? 0) / Math.max(this.#bytesOf(index), 1);
    const dearest = again.sort((a, b) => price(b) - price(a));
    let best: Recomputation = found;
    let [low, high] = [0, dearest.length];
    while (low < high) {
      const count = (low + high + 1) >> 1;
      const entries = this.entries(new Set([...found.kept, ...dearest.slice(0, count)]));
      const peak = peakOf(this.#nodes, entries);
      if (peak.byteLength <= byteLength) {
        best = { entries, peak };
        low = count;
      } else high = count - 1;
    }
    return best;
  }
}
