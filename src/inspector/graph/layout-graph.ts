// A layered drawing after Sugiyama, Tagawa and Toda (1981): layers by longest paths, orders within layers by barycentres,
// and coordinates that are the least squares solution for each layer in turn. Its own code, since the programs of neural
// networks have as many layers as nodes, which takes dagre and ELK seconds for a thousand nodes: docs/inspector.md.

/** Sizes of nodes, and edges between them by their numbers. */
interface LayoutInput {
  readonly widths: Float32Array;
  readonly heights: Float32Array;
  /** The numbers of the two nodes of each edge: from, to. */
  readonly edges: Uint32Array;
}

/** The places of nodes and edges; the upper left corner of all is (0, 0). */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The x of each node's middle; `y` has the other coordinate. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** The layer of each node, from 0 at the top. */
  readonly layers: Uint32Array;
  /** Points that edges go through, x and y by turns; those of edge `i` begin at `pointStarts[i]`. */
  readonly points: Float32Array;
  /** One more than there are edges. */
  readonly pointStarts: Uint32Array;
}

const NODE_GAP = 14;
const BEND_WIDTH = 10;
const LAYER_GAP = 30;
/** An edge over more layers is drawn without a lane of its own. */
const LONGEST_LANE = 24;
const ORDER_SWEEPS = 4;
const PLACE_SWEEPS = 8;
/** Edges between bends are kept straight before others. */
const BEND_WEIGHT = 8;
/** Draws all to the middle a little: else each block of a deep program lies further to the side than the one before. */
const MIDDLE_WEIGHT = 0.08;

/** Lays out a graph from the top down. Cycles are drawn as if one of their edges went the other way. Linear but for sorting. */
export function layoutGraph(input: LayoutInput): Layout {
  const nodeCount = input.widths.length;
  const edges = withoutCycles(input);
  const layers = layersOf(nodeCount, edges);
  const lanes = addLanes(input, edges, layers);
  const rows = orderRows(lanes);
  const x = placeRows(rows, lanes);
  return drawing(input, lanes, { rows, x, layers });
}

/** Neighbours of each node, one list after the other. */
class Neighbours {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;

  constructor(nodeCount: number, from: ArrayLike<number>, to: ArrayLike<number>) {
    this.starts = new Uint32Array(nodeCount + 1);
    this.ends = new Uint32Array(from.length);
    for (let i = 0; i < from.length; i++) add(this.starts, (from[i] ?? 0) + 1, 1);
    for (let i = 0; i < nodeCount; i++) add(this.starts, i + 1, this.starts[i] ?? 0);
    const next = this.starts.slice();
    for (let i = 0; i < from.length; i++) {
      const node = from[i] ?? 0;
      this.ends[next[node] ?? 0] = to[i] ?? 0;
      add(next, node, 1);
    }
  }

  of(node: number): Uint32Array {
    return this.ends.subarray(this.starts[node], this.starts[node + 1]);
  }
}

function add(array: Uint32Array, index: number, amount: number): void {
  array[index] = (array[index] ?? 0) + amount;
}

interface Edges {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly turned: ReadonlySet<number>;
}

/** Turns round each edge that leads back to a node whose walk is not over. */
function withoutCycles({ widths, edges }: LayoutInput): Edges {
  const count = edges.length / 2;
  const from = new Uint32Array(count);
  const to = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    from[i] = edges[2 * i] ?? 0;
    to[i] = edges[2 * i + 1] ?? 0;
  }
  const edgesOf = new Neighbours(widths.length, from, Uint32Array.from(from.keys()));
  const turned = new Set<number>();
  const state = new Uint8Array(widths.length);
  for (let root = 0; root < widths.length; root++) {
    if (state[root] !== 0) continue;
    state[root] = 1;
    const open = [{ node: root, next: 0 }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const edge = edgesOf.of(top.node)[top.next++];
      if (edge === undefined) {
        state[top.node] = 2;
        open.pop();
        continue;
      }
      const target = to[edge] ?? 0;
      if (state[target] === 1) turned.add(edge);
      else if (state[target] === 0) {
        state[target] = 1;
        open.push({ node: target, next: 0 });
      }
    }
  }
  for (const edge of turned) [from[edge], to[edge]] = [to[edge] ?? 0, from[edge] ?? 0];
  return { from, to, turned };
}

/** The longest path to each node; a node that gives more than it takes moves down to its nearest reader. */
function layersOf(nodeCount: number, { from, to }: Edges): Uint32Array {
  const below = new Neighbours(nodeCount, from, to);
  const above = new Neighbours(nodeCount, to, from);
  const waits = new Uint32Array(nodeCount);
  for (const node of to) add(waits, node, 1);
  const order: number[] = [];
  for (let node = 0; node < nodeCount; node++) if (waits[node] === 0) order.push(node);
  const layers = new Uint32Array(nodeCount);
  for (const node of order) {
    for (const next of below.of(node)) {
      layers[next] = Math.max(layers[next] ?? 0, (layers[node] ?? 0) + 1);
      waits[next] = (waits[next] ?? 0) - 1;
      if (waits[next] === 0) order.push(next);
    }
  }
  for (const node of order.reverse()) {
    const readers = below.of(node);
    if (readers.length <= above.of(node).length) continue;
    let nearest = Infinity;
    for (const reader of readers) nearest = Math.min(nearest, layers[reader] ?? 0);
    layers[node] = nearest - 1;
  }
  return layers;
}

/** The graph with a bend on each layer that an edge crosses. */
interface Lanes {
  readonly nodeCount: number;
  /** The layer of each node and bend. */
  readonly layer: readonly number[];
  readonly width: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** For each edge of the graph its bends, from the top down; undefined: it has no lane. */
  readonly bendsOf: readonly (readonly number[] | undefined)[];
  readonly turned: ReadonlySet<number>;
}

function addLanes({ widths }: LayoutInput, edges: Edges, layers: Uint32Array): Lanes {
  const layer = [...layers];
  const width = [...widths];
  const from: number[] = [];
  const to: number[] = [];
  const bendsOf = [...edges.from].map((source, i) => {
    const target = edges.to[i] ?? 0;
    const [first = 0, last = 0] = [layers[source], layers[target]];
    if (last - first > LONGEST_LANE) return undefined;
    const bends: number[] = [];
    let above = source;
    for (let at = first + 1; at < last; at++) {
      const bend = layer.push(at) - 1;
      width.push(BEND_WIDTH);
      from.push(above);
      to.push(bend);
      bends.push(bend);
      above = bend;
    }
    from.push(above);
    to.push(target);
    return bends;
  });
  return { nodeCount: widths.length, layer, width, from, to, bendsOf, turned: edges.turned };
}

interface Rows {
  /** Nodes and bends of each layer, from the left. */
  readonly rows: readonly number[][];
  readonly above: Neighbours;
  readonly below: Neighbours;
}

function orderRows({ layer, from, to }: Lanes): Rows {
  const count = layer.length;
  const above = new Neighbours(count, to, from);
  const below = new Neighbours(count, from, to);
  const rows: number[][] = [];
  // In the order of a walk from the top, so that what belongs together begins side by side.
  const isSeen = new Uint8Array(count);
  for (let root = 0; root < count; root++) {
    const open = isSeen[root] === 0 && above.of(root).length === 0 ? [root] : [];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (isSeen[node] === 1) continue;
      isSeen[node] = 1;
      const at = layer[node] ?? 0;
      while (rows.length <= at) rows.push([]);
      rows[at]?.push(node);
      open.push(...below.of(node).toReversed());
    }
  }
  const place = new Float64Array(count);
  const number = (row: readonly number[]): void => row.forEach((node, i) => (place[node] = i));
  rows.forEach(number);
  const wanted = new Float64Array(count);
  const sort = (row: number[] | undefined, neighbours: Neighbours): void => {
    if (row === undefined || row.length < 2) return;
    for (const node of row) wanted[node] = mean(neighbours.of(node), place) ?? place[node] ?? 0;
    row.sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
    number(row);
  };
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    for (const row of rows) sort(row, above);
    for (let at = rows.length - 1; at >= 0; at--) sort(rows[at], below);
  }
  for (const row of rows) sort(row, above);
  return { rows, above, below };
}

function mean(nodes: Uint32Array, of: Float64Array): number | undefined {
  let sum = 0;
  for (const node of nodes) sum += of[node] ?? 0;
  return nodes.length === 0 ? undefined : sum / nodes.length;
}

/** The middles of nodes and bends from the left: near their neighbours, and apart from each other. */
function placeRows({ rows, above, below }: Rows, { nodeCount, width }: Lanes): Float64Array {
  const x = new Float64Array(width.length);
  for (const row of rows) {
    let end = 0;
    for (const node of row) {
      x[node] = end + (width[node] ?? 0) / 2;
      end += (width[node] ?? 0) + NODE_GAP;
    }
    for (const node of row) x[node] = (x[node] ?? 0) - end / 2;
  }
  const settle = (row: readonly number[] | undefined, sides: readonly Neighbours[]): void => {
    if (row !== undefined) settleRow(row, { x, width, nodeCount, sides });
  };
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    for (const row of rows) settle(row, [above]);
    for (let at = rows.length - 1; at >= 0; at--) settle(rows[at], [below]);
  }
  for (const row of rows) settle(row, [above, below]);
  return x;
}

interface RowContext {
  readonly x: Float64Array;
  readonly width: readonly number[];
  readonly nodeCount: number;
  readonly sides: readonly Neighbours[];
}

interface Block {
  sum: number;
  weight: number;
  count: number;
}

/**
 * The places nearest to the means of neighbours, in least squares, that keep the order and the gaps: isotonic
 * regression, by pooling adjacent violators.
 */
function settleRow(row: readonly number[], { x, width, nodeCount, sides }: RowContext): void {
  const offsets: number[] = [];
  const blocks: Block[] = [];
  let end = 0;
  for (const node of row) {
    const half = (width[node] ?? 0) / 2;
    offsets.push(end + half);
    let [sum, weight] = [0, 0];
    for (const side of sides) {
      for (const neighbour of side.of(node)) {
        const each = node >= nodeCount && neighbour >= nodeCount ? BEND_WEIGHT : 1;
        sum += each * (x[neighbour] ?? 0);
        weight += each;
      }
    }
    weight += MIDDLE_WEIGHT;
    blocks.push({ sum: sum - weight * (end + half), weight, count: 1 });
    end += 2 * half + NODE_GAP;
    for (let last = blocks.at(-1), before = blocks.at(-2); last && before; ) {
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
      blocks.pop();
      [last, before] = [before, blocks.at(-2)];
    }
  }
  let i = 0;
  for (const { sum, weight, count } of blocks) {
    for (let k = 0; k < count; k++, i++) x[row[i] ?? 0] = sum / weight + (offsets[i] ?? 0);
  }
}

/** The layout in numbers from 0, with the points of all edges. */
function drawing(
  { widths, heights, edges }: LayoutInput,
  { nodeCount, width, layer, bendsOf, turned }: Lanes,
  { rows, x, layers }: { rows: Rows; x: Float64Array; layers: Uint32Array },
): Layout {
  const middles: number[] = [];
  let bottom = 0;
  for (const row of rows.rows) {
    let height = 0;
    for (const node of row) height = Math.max(height, heights[node] ?? 0);
    middles.push(bottom + height / 2);
    bottom += height + LAYER_GAP;
  }
  let [left, right] = [Infinity, -Infinity];
  for (const [node, at] of x.entries()) {
    left = Math.min(left, at - (width[node] ?? 0) / 2);
    right = Math.max(right, at + (width[node] ?? 0) / 2);
  }
  const xs = Float32Array.from({ length: nodeCount }, (_, node) => (x[node] ?? 0) - left);
  const ys = Float32Array.from({ length: nodeCount }, (_, node) => middles[layers[node] ?? 0] ?? 0);
  const points: number[] = [];
  const starts = new Uint32Array(edges.length / 2 + 1);
  for (let i = 0; i < edges.length / 2; i++) {
    const bends = bendsOf[i] ?? [];
    const [from = 0, to = 0] = [edges[2 * i], edges[2 * i + 1]];
    const isUp = turned.has(i);
    const side = (node: number, sign: number) =>
      (ys[node] ?? 0) + (sign * (heights[node] ?? 0) * (isUp ? -1 : 1)) / 2;
    points.push(xs[from] ?? 0, side(from, 1));
    for (const bend of isUp ? bends.toReversed() : bends) {
      points.push((x[bend] ?? 0) - left, middles[layer[bend] ?? 0] ?? 0);
    }
    points.push(xs[to] ?? 0, side(to, -1));
    starts[i + 1] = points.length;
  }
  const isEmpty = widths.length === 0;
  return {
    width: isEmpty ? 0 : right - left,
    height: isEmpty ? 0 : bottom - LAYER_GAP,
    x: xs,
    y: ys,
    layers,
    points: Float32Array.from(points),
    pointStarts: starts,
  };
}
