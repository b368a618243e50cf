import type { ShownNode } from './collapse-scopes.ts';
import type { Area, GraphScene } from './graph-scene.ts';
import { cut } from './node-size.ts';

/** Colours of a theme, as CSS has them. */
export interface GraphColours {
  readonly paper: string;
  readonly surface: string;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly heat: string;
  readonly bad: string;
  readonly good: string;
  readonly font: string;
}

/** The names of the colours, which are custom properties of the inspector's style sheet behind `--weft-`. */
export const COLOUR_NAMES = [
  'paper',
  'surface',
  'ink',
  'muted',
  'line',
  'accent',
  'heat',
  'bad',
  'good',
  'font',
] as const satisfies readonly (keyof GraphColours)[];

/** The part of the drawing that is seen: what lies at its upper left corner, and CSS pixels for each unit. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

/** The tint of a node: `heat` with its amount from 0 to 1, or how a comparison went. */
export interface Tint {
  readonly colour: 'heat' | 'good' | 'bad';
  readonly amount: number;
}

interface DrawOptions {
  readonly colours: GraphColours;
  readonly pixelRatio: number;
  readonly selected: ReadonlySet<number>;
  readonly found: ReadonlySet<number>;
  readonly tints: ReadonlyMap<number, Tint>;
}

export interface Drawn {
  readonly nodes: number;
  readonly edges: number;
}

/** Below this height of a node on the screen its texts are left out. */
const LEAST_TEXT_HEIGHT = 13;
const LEAST_NOTE_HEIGHT = 24;
/** With more edges in sight than this, each is drawn as one straight line. */
const MANY_EDGES = 1500;

export function areaOf({ x, y, scale, width, height }: Viewport): Area {
  return { left: x, top: y, right: x + width / scale, bottom: y + height / scale };
}

/** Draws what the viewport shows of a scene, and nothing else. */
export function drawGraph(
  context: CanvasRenderingContext2D,
  scene: GraphScene,
  viewport: Viewport,
  options: DrawOptions,
): Drawn {
  const { colours, pixelRatio } = options;
  const { x, y, scale, width, height } = viewport;
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
  const zoom = pixelRatio * scale;
  context.setTransform(zoom, 0, 0, zoom, -x * zoom, -y * zoom);
  const area = areaOf(viewport);
  const edges = scene.edgesIn(area);
  const nodes = scene.nodesIn(area);
  drawEdges(context, scene, { edges, scale, options });
  const [first] = nodes;
  const nodeHeight = first === undefined ? 0 : (scene.heights[first] ?? 0) * scale;
  if (nodeHeight < LEAST_TEXT_HEIGHT) drawBlocks(context, scene, nodes, options);
  else drawNodes(context, scene, { nodes, hasNotes: nodeHeight >= LEAST_NOTE_HEIGHT, options });
  return { nodes: nodes.length, edges: edges.length };
}

interface EdgeContext {
  readonly edges: readonly number[];
  readonly scale: number;
  readonly options: DrawOptions;
}

function drawEdges(
  context: CanvasRenderingContext2D,
  scene: GraphScene,
  { edges, scale, options: { colours, selected } }: EdgeContext,
): void {
  const isPlain = edges.length > MANY_EDGES;
  const marked: number[] = [];
  context.lineWidth = Math.max(1, 0.7 / scale);
  context.strokeStyle = colours.line;
  context.beginPath();
  for (const edge of edges) {
    const [from = -1, to = -1] = scene.graph.edges[edge] ?? [];
    if (selected.has(from) || selected.has(to)) marked.push(edge);
    else addEdge(context, scene, edge, isPlain);
  }
  context.stroke();
  if (marked.length === 0) return;
  context.lineWidth = Math.max(2, 1.5 / scale);
  context.strokeStyle = colours.accent;
  context.beginPath();
  for (const edge of marked) addEdge(context, scene, edge, false);
  context.stroke();
}

function addEdge(
  context: CanvasRenderingContext2D,
  { layout: { points, pointStarts } }: GraphScene,
  edge: number,
  isPlain: boolean,
): void {
  const [start = 0, end = 0] = [pointStarts[edge], pointStarts[edge + 1]];
  let [x, y] = [points[start] ?? 0, points[start + 1] ?? 0];
  context.moveTo(x, y);
  if (isPlain) {
    context.lineTo(points[end - 2] ?? 0, points[end - 1] ?? 0);
    return;
  }
  for (let i = start + 2; i < end; i += 2) {
    const [nextX, nextY] = [points[i] ?? 0, points[i + 1] ?? 0];
    const middle = (y + nextY) / 2;
    context.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
    [x, y] = [nextX, nextY];
  }
}

/** Far away: blocks without texts, of one colour at a time. */
function drawBlocks(
  context: CanvasRenderingContext2D,
  scene: GraphScene,
  nodes: readonly number[],
  options: DrawOptions,
): void {
  const byColour = new Map<string, number[]>();
  for (const node of nodes) {
    const colour = blockColour(node, scene.graph.nodes[node], options);
    const list = byColour.get(colour);
    if (list === undefined) byColour.set(colour, [node]);
    else list.push(node);
  }
  for (const [colour, list] of byColour) {
    context.fillStyle = colour;
    for (const node of list) {
      const [w = 0, h = 0] = [scene.widths[node], scene.heights[node]];
      context.fillRect(
        (scene.layout.x[node] ?? 0) - w / 2,
        (scene.layout.y[node] ?? 0) - h / 2,
        w,
        h,
      );
    }
  }
}

function blockColour(node: number, shown: ShownNode | undefined, options: DrawOptions): string {
  const { colours, selected, found, tints } = options;
  if (selected.has(node)) return colours.accent;
  if (found.has(node)) return colours.heat;
  const tint = tints.get(node);
  if (tint !== undefined) return colours[tint.colour];
  return shown === undefined ? colours.muted : bandColour(shown);
}

interface NodeContext {
  readonly nodes: readonly number[];
  readonly hasNotes: boolean;
  readonly options: DrawOptions;
}

function drawNodes(
  context: CanvasRenderingContext2D,
  scene: GraphScene,
  { nodes, hasNotes, options }: NodeContext,
): void {
  const { colours, selected, found, tints } = options;
  context.textBaseline = 'middle';
  for (const node of nodes) {
    const shown = scene.graph.nodes[node];
    if (shown === undefined) continue;
    const [w = 0, h = 0] = [scene.widths[node], scene.heights[node]];
    const left = (scene.layout.x[node] ?? 0) - w / 2;
    const top = (scene.layout.y[node] ?? 0) - h / 2;
    const isRound = shown.kind === 'input' || shown.kind === 'result';
    context.beginPath();
    context.roundRect(left, top, w, h, isRound ? h / 2 : 6);
    context.fillStyle = colours.surface;
    context.fill();
    const tint = tints.get(node);
    if (tint !== undefined) {
      context.globalAlpha = 0.15 + 0.55 * Math.min(1, tint.amount);
      context.fillStyle = colours[tint.colour];
      context.fill();
      context.globalAlpha = 1;
    }
    const isMarked = selected.has(node) || found.has(node);
    context.lineWidth = isMarked ? 3 : 1;
    context.strokeStyle = selected.has(node)
      ? colours.accent
      : found.has(node)
        ? colours.heat
        : colours.line;
    context.stroke();
    if (shown.kind === 'scope') {
      context.strokeRect(left + 3, top + 3, w - 6, h - 6);
    } else if (!isRound) {
      context.fillStyle = bandColour(shown);
      context.fillRect(left + 2, top + 6, 4, h - 12);
    }
    context.fillStyle = colours.ink;
    context.font = `12px ${colours.font}`;
    context.fillText(cut(shown.label), left + 12, top + (hasNotes ? 13 : h / 2), w - 16);
    if (!hasNotes) continue;
    context.fillStyle = colours.muted;
    context.font = `10px ${colours.font}`;
    const note = shown.isOnHost ? `host: ${shown.note}` : shown.note;
    context.fillText(cut(note), left + 12, top + 27, w - 16);
  }
}

const bands = new Map<string, string>();

/** Equal operators have equal colours. */
function bandColour({ kind, note }: ShownNode): string {
  const key = kind === 'kernel' ? (note.split(',')[0] ?? '') : kind;
  let colour = bands.get(key);
  if (colour === undefined) {
    let hash = 0;
    for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) % 360;
    colour = `hsl(${(hash * 137) % 360}, 45%, 52%)`;
    bands.set(key, colour);
  }
  return colour;
}
