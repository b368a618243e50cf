import type { ShownGraph } from './collapse-scopes.ts';
import type { Layout } from './layout-graph.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';

/** A rectangle of the drawing. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A graph that is laid out, with what lies where. */
export class GraphScene {
  readonly graph: ShownGraph;
  readonly layout: Layout;
  readonly widths: Float32Array;
  readonly heights: Float32Array;
  /** Neighbours by node, from the left. */
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: readonly (readonly number[])[];
  /** Nodes of each layer, from the left. */
  readonly #rows: number[][] = [];
  /** The y of the middles of each layer's nodes. */
  readonly #rowY: number[] = [];
  /** Edges that go from each layer to the next or beyond. */
  readonly #edgesBelow: number[][] = [];
  readonly #stamps: Uint32Array;
  #stamp = 0;

  constructor(graph: ShownGraph, layout: Layout) {
    this.graph = graph;
    this.layout = layout;
    this.widths = Float32Array.from(graph.nodes, nodeWidth);
    this.heights = Float32Array.from(graph.nodes, nodeHeight);
    this.#stamps = new Uint32Array(graph.edges.length);
    for (const [node, layer] of layout.layers.entries()) {
      (this.#rows[layer] ??= []).push(node);
      this.#rowY[layer] = layout.y[node] ?? 0;
    }
    for (const row of this.#rows) row.sort((a, b) => this.#x(a) - this.#x(b));
    const inputs: number[][] = graph.nodes.map(() => []);
    const outputs: number[][] = graph.nodes.map(() => []);
    for (const [edge, [from, to]] of graph.edges.entries()) {
      inputs[to]?.push(from);
      outputs[from]?.push(to);
      const [a = 0, b = 0] = [layout.layers[from], layout.layers[to]];
      for (let layer = Math.min(a, b); layer < Math.max(a, b); layer++) {
        (this.#edgesBelow[layer] ??= []).push(edge);
      }
    }
    for (const list of [...inputs, ...outputs]) list.sort((a, b) => this.#x(a) - this.#x(b));
    this.inputs = inputs;
    this.outputs = outputs;
  }

  #x(node: number): number {
    return this.layout.x[node] ?? 0;
  }

  /** Nodes that an area shows something of. */
  nodesIn(area: Area): number[] {
    const found: number[] = [];
    const margin = 40;
    const last = this.#firstRow(area.bottom + margin);
    for (let layer = this.#firstRow(area.top - margin); layer < last; layer++) {
      const row = this.#rows[layer] ?? [];
      for (
        let i = firstIndex(row.length, (k) => this.#right(row[k] ?? 0) >= area.left);
        i < row.length;
        i++
      ) {
        const node = row[i] ?? 0;
        if (this.#x(node) - (this.widths[node] ?? 0) / 2 > area.right) break;
        if (this.#isIn(node, area)) found.push(node);
      }
    }
    return found;
  }

  edgesIn(area: Area): number[] {
    const found: number[] = [];
    const stamp = ++this.#stamp;
    const last = this.#firstRow(area.bottom);
    for (let layer = Math.max(0, this.#firstRow(area.top) - 1); layer < last; layer++) {
      for (const edge of this.#edgesBelow[layer] ?? []) {
        if (this.#stamps[edge] === stamp) continue;
        this.#stamps[edge] = stamp;
        found.push(edge);
      }
    }
    return found;
  }

  nodeAt(x: number, y: number): number | undefined {
    return this.nodesIn({ left: x, right: x, top: y, bottom: y })[0];
  }

  beside(node: number, step: -1 | 1): number | undefined {
    const row = this.#rows[this.layout.layers[node] ?? 0] ?? [];
    return row[row.indexOf(node) + step];
  }

  /** The node that is nearest to a point, by its layer first. */
  nearest(x: number, y: number): number | undefined {
    const layer = Math.min(this.#firstRow(y), this.#rows.length - 1);
    const [first, ...others] = this.#rows[layer] ?? [];
    return others.reduce(
      (best, node) =>
        Math.abs(this.#x(node) - x) < Math.abs(this.#x(best ?? 0) - x) ? node : best,
      first,
    );
  }

  #right(node: number): number {
    return this.#x(node) + (this.widths[node] ?? 0) / 2;
  }

  #isIn(node: number, { top, bottom }: Area): boolean {
    const half = (this.heights[node] ?? 0) / 2;
    const y = this.layout.y[node] ?? 0;
    return y + half >= top && y - half <= bottom;
  }

  /** The first layer whose middle is not above `y`. */
  #firstRow(y: number): number {
    return firstIndex(this.#rowY.length, (row) => (this.#rowY[row] ?? 0) >= y);
  }
}

/** The first index from 0 up of which `holds`, which it does of all behind it; `count` if of none. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
