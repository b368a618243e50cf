import type { Step } from '../../ir/walk/block.ts';
import type { Expr } from '../../ir/expr.ts';

/** A step of a block, or its result, as what it reads and what its value takes. */
export interface BlockNode {
  /** Undefined for the result of the block. */
  readonly step: Step | undefined;
  readonly value: Expr;
  /** The steps whose variables it reads, by index. */
  readonly reads: readonly number[];
  /** The steps whose memory it reads: of a name for another value that of the value. */
  readonly holds: readonly number[];
  /** Bytes of its value; 0 where nothing bounds them. */
  readonly byteLength: number;
  /** Bytes that blocks inside it hold meanwhile. */
  readonly innerBytes: number;
  /** True if its value is held until the block ends. */
  readonly escapes: boolean;
  /**
   * True if it may be computed at another time: a kernel, all of whose sizes follow from
   * parameters.
   */
  readonly isMovable: boolean;
  /** True if it may be computed again: only kernels read its value, under one name. */
  readonly isRepeatable: boolean;
  /** Additions and multiplications, about. */
  readonly work: number;
}

/** When a step is computed: for the first time, or again. */
export interface Entry {
  readonly node: number;
  readonly isAgain: boolean;
}

/** The steps in their order, each once. */
export function inOrder(nodes: readonly BlockNode[]): readonly Entry[] {
  return nodes.map((_, node) => ({ node, isAgain: false }));
}

/** The most bytes that are alive at once, and when. */
export interface Peak {
  readonly byteLength: number;
  /** The index of the entry at which they are alive. */
  readonly at: number;
}

/** The peak of the steps in an order. What is computed again is what later steps read. */
export function peakOf(nodes: readonly BlockNode[], entries: readonly Entry[]): Peak {
  const current = new Map<number, number>();
  const last: number[] = [];
  for (const [at, { node }] of entries.entries()) {
    for (const held of nodes[node]?.holds ?? []) {
      const holder = current.get(held);
      if (holder !== undefined) last[holder] = at;
    }
    current.set(node, at);
    last[at] = nodes[node]?.escapes === true ? entries.length : at;
  }
  const freed = new Array<number>(entries.length + 1).fill(0);
  let alive = 0;
  let peak = { byteLength: 0, at: 0 };
  for (const [at, { node }] of entries.entries()) {
    const { byteLength = 0, innerBytes = 0 } = nodes[node] ?? {};
    alive += byteLength;
    const end = last[at] ?? at;
    freed[end] = (freed[end] ?? 0) + byteLength;
    if (alive + innerBytes > peak.byteLength) peak = { byteLength: alive + innerBytes, at };
    alive -= freed[at] ?? 0;
  }
  return peak;
}
