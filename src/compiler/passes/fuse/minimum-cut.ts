import { countWork } from '../../../core/limits/work-meter.ts';

interface Edge {
  readonly to: number;
  /** Capacity that no flow takes. */
  rest: number;
  /** The same edge the other way round. */
  back: Edge | undefined;
}

/** Less is nothing: capacities are sums of rounded numbers. */
const NOTHING = 1e-12;

/** A graph of edges with capacities, and where it is cut at the least cost (Dinic's algorithm). */
export class FlowNetwork {
  readonly #edges: Edge[][] = [];
  #levels: number[] = [];

  addVertex(): number {
    return this.#edges.push([]) - 1;
  }

  addEdge(from: number, to: number, capacity: number): void {
    if (from === to || capacity <= 0) return;
    const edge: Edge = { to, rest: capacity, back: undefined };
    edge.back = { to: from, rest: 0, back: edge };
    this.#edges[from]?.push(edge);
    this.#edges[to]?.push(edge.back);
  }

  /** The vertices on the sink's side of a minimum cut; where several cuts cost the same, as few as can be. */
  cut(source: number, sink: number): ReadonlySet<number> {
    while (this.#rank(source, sink)) this.#block(source, sink);
    const side = new Set([sink]);
    for (const vertex of side) {
      for (const { to, back } of this.#edges[vertex] ?? []) {
        if (back !== undefined && back.rest > NOTHING) side.add(to);
      }
    }
    return side;
  }

  /** Ranks vertices along edges with capacity left. Returns true if these lead to the sink. */
  #rank(source: number, sink: number): boolean {
    this.#levels = this.#edges.map(() => -1);
    this.#levels[source] = 0;
    const queue = [source];
    for (const vertex of queue) {
      countWork();
      for (const { to, rest } of this.#edges[vertex] ?? []) {
        if (rest <= NOTHING || (this.#levels[to] ?? 0) >= 0) continue;
        this.#levels[to] = (this.#levels[vertex] ?? 0) + 1;
        queue.push(to);
      }
    }
    return (this.#levels[sink] ?? -1) >= 0;
  }

  /** Sends as much along shortest paths as there is room for. Graphs are deep: without recursion. */
  #block(source: number, sink: number): void {
    const next = this.#edges.map(() => 0);
    const path: Edge[] = [];
    for (;;) {
      const vertex = path.at(-1)?.to ?? source;
      if (vertex === sink) {
        const flow = path.reduce((least, { rest }) => Math.min(least, rest), Infinity);
        for (const edge of path) {
          edge.rest -= flow;
          if (edge.back !== undefined) edge.back.rest += flow;
        }
        path.length = path.findIndex(({ rest }) => rest <= NOTHING);
        continue;
      }
      countWork();
      const edge = this.#advance(vertex, next);
      if (edge !== undefined) {
        path.push(edge);
        continue;
      }
      // Nothing more gets through here.
      if (path.pop() === undefined) return;
      const before = path.at(-1)?.to ?? source;
      next[before] = (next[before] ?? 0) + 1;
    }
  }

  /** The next edge of a vertex that leads on. */
  #advance(vertex: number, next: number[]): Edge | undefined {
    const edges = this.#edges[vertex] ?? [];
    const level = (this.#levels[vertex] ?? 0) + 1;
    for (let i = next[vertex] ?? 0; i < edges.length; i++) {
      const edge = edges[i];
      if (edge !== undefined && edge.rest > NOTHING && this.#levels[edge.to] === level) {
        next[vertex] = i;
        return edge;
      }
    }
    next[vertex] = edges.length;
    return undefined;
  }
}
