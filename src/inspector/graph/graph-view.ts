import { coloursOf } from '../view/colours.ts';
import {
  areaOf,
  COLOUR_NAMES,
  type Drawn,
  drawGraph,
  type GraphColours,
  type Tint,
  type Viewport,
} from './draw-graph.ts';
import type { GraphScene } from './graph-scene.ts';

interface GraphEvents {
  /** A node was chosen, by pointer or keys; undefined: none is any more. */
  onSelect(node: number | undefined): void;
  /** A node was opened: a double click, or the key Enter. */
  onOpen(node: number): void;
}

const SMALLEST_SCALE = 0.02;
const LARGEST_SCALE = 3;
const ZOOM_STEP = 1.25;
const KEY_PAN = 80;
/** How far a pointer may move in a click. */
const CLICK_PX = 4;
const MARGIN = 24;

/** The canvas of a graph: what is seen is drawn, at most once in a frame, after anything has changed. */
export class GraphView {
  readonly canvas: HTMLCanvasElement;
  /** Numbers of nodes and edges in the last frame. */
  drawn: Drawn = { nodes: 0, edges: 0 };
  readonly #events: GraphEvents;
  readonly #resize: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #closed = new AbortController();
  #scene: GraphScene | undefined;
  #viewport: Viewport = { x: 0, y: 0, scale: 1, width: 0, height: 0 };
  #colours: GraphColours | undefined;
  #frame: number | undefined;
  #selected: ReadonlySet<number> = new Set();
  #current: number | undefined;
  #found: ReadonlySet<number> = new Set();
  #tints: ReadonlyMap<number, Tint> = new Map();
  #drag: { readonly x: number; readonly y: number; readonly viewport: Viewport } | undefined;
  #shallFit = false;

  constructor(canvas: HTMLCanvasElement, events: GraphEvents) {
    this.canvas = canvas;
    this.#events = events;
    const { signal } = this.#closed;
    const on = <K extends keyof HTMLElementEventMap>(
      name: K,
      listener: (event: HTMLElementEventMap[K]) => void,
    ): void => canvas.addEventListener(name, listener, { signal, passive: false });
    on('pointerdown', (event) => this.#press(event));
    on('pointermove', (event) => this.#move(event));
    on('pointerup', (event) => this.#release(event));
    on('pointercancel', () => (this.#drag = undefined));
    on('dblclick', (event) => {
      const node = this.#nodeUnder(event);
      if (node !== undefined) events.onOpen(node);
    });
    on('wheel', (event) => this.#wheel(event));
    on('keydown', (event) => {
      if (this.#key(event)) event.preventDefault();
    });
    on('focus', () => this.redraw());
    this.#scheme.addEventListener('change', () => this.#forgetColours(), { signal });
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(canvas);
  }

  /** Shows another graph: with `keep` at the same place and scale, otherwise from its top. */
  show(scene: GraphScene, { keep = false }: { readonly keep?: boolean } = {}): void {
    this.#scene = scene;
    this.#selected = new Set();
    this.#current = undefined;
    this.#found = new Set();
    this.#tints = new Map();
    if (!keep) this.#shallFit = true;
    this.#measure();
  }

  get current(): number | undefined {
    return this.#current;
  }

  /** Marks nodes; the first one is where keys go on from. */
  select(nodes: readonly number[], { reveal = false }: { readonly reveal?: boolean } = {}): void {
    this.#selected = new Set(nodes);
    this.#current = nodes[0];
    if (reveal && nodes[0] !== undefined) this.reveal(nodes[0]);
    this.redraw();
  }

  mark(found: ReadonlySet<number>): void {
    this.#found = found;
    this.redraw();
  }

  /** Colours these nodes, and takes the colour from all others. */
  tint(tints: ReadonlyMap<number, Tint>): void {
    this.#tints = tints;
    this.redraw();
  }

  /** Brings a node into sight, at a scale at which its text is read. */
  reveal(node: number): void {
    const { width, height } = this.#viewport;
    const scale = Math.max(this.#viewport.scale, 0.6);
    const x = (this.#scene?.layout.x[node] ?? 0) - width / scale / 2;
    const y = (this.#scene?.layout.y[node] ?? 0) - height / scale / 2;
    this.#look({ x, y, scale });
  }

  /** Shows as much of the graph as can be read: its width, from the top. */
  fitWidth(): void {
    const { layout } = this.#scene ?? {};
    const { width, height } = this.#viewport;
    if (layout === undefined || width === 0) return;
    const scale = clamp((width - 2 * MARGIN) / Math.max(1, layout.width), 0.35, 1);
    const isLow = layout.height * scale < height;
    this.#look({
      x: layout.width / 2 - width / scale / 2,
      y: isLow ? layout.height / 2 - height / scale / 2 : -MARGIN / scale,
      scale,
    });
  }

  fitAll(): void {
    const { layout } = this.#scene ?? {};
    const { width, height } = this.#viewport;
    if (layout === undefined || width === 0) return;
    const scale = clamp(
      Math.min(
        (width - 2 * MARGIN) / Math.max(1, layout.width),
        (height - 2 * MARGIN) / Math.max(1, layout.height),
      ),
      SMALLEST_SCALE,
      1,
    );
    this.#look({
      x: layout.width / 2 - width / scale / 2,
      y: layout.height / 2 - height / scale / 2,
      scale,
    });
  }

  /** Moves what is seen, in CSS pixels. */
  pan(byX: number, byY: number): void {
    const { x, y, scale } = this.#viewport;
    this.#look({ x: x + byX / scale, y: y + byY / scale });
  }

  /** Zooms about a point of the canvas; default: its middle. */
  zoom(factor: number, at?: { readonly x: number; readonly y: number }): void {
    const { x, y, scale, width, height } = this.#viewport;
    const point = at ?? { x: width / 2, y: height / 2 };
    const next = clamp(scale * factor, SMALLEST_SCALE, LARGEST_SCALE);
    const moved = 1 / scale - 1 / next;
    this.#look({ x: x + point.x * moved, y: y + point.y * moved, scale: next });
  }

  redraw(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#draw();
    });
  }

  close(): void {
    this.#closed.abort();
    this.#resize.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #draw(): void {
    const context = this.canvas.getContext('2d', { alpha: false });
    if (context === null || this.#scene === undefined) return;
    this.drawn = drawGraph(context, this.#scene, this.#viewport, {
      colours: (this.#colours ??= coloursOf(this.canvas, COLOUR_NAMES)),
      pixelRatio: devicePixelRatio,
      selected: this.#selected,
      found: this.#found,
      tints: this.#tints,
    });
  }

  #forgetColours(): void {
    this.#colours = undefined;
    this.redraw();
  }

  #measure(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    // Behind another view it has no size, and keeps what it showed.
    if (width === 0 || height === 0) return;
    const [wide, high] = [width, height].map((size) => Math.round(size * devicePixelRatio));
    // Setting a size clears the canvas.
    if (this.canvas.width !== wide) this.canvas.width = wide ?? 0;
    if (this.canvas.height !== high) this.canvas.height = high ?? 0;
    this.#viewport = { ...this.#viewport, width, height };
    if (this.#shallFit && width > 0) {
      this.#shallFit = false;
      this.fitWidth();
    }
    this.redraw();
  }

  /** Something of the graph stays in sight. */
  #look(change: Partial<Viewport>): void {
    const next = { ...this.#viewport, ...change };
    const { width = 0, height = 0 } = this.#scene?.layout ?? {};
    const [wide, high] = [next.width / next.scale, next.height / next.scale];
    const x = clamp(next.x, -wide / 2, width - wide / 2);
    const y = clamp(next.y, -high / 2, height - high / 2);
    this.#viewport = { ...next, x, y };
    this.redraw();
  }

  #pointOf({ clientX, clientY }: MouseEvent): { x: number; y: number } {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  #nodeUnder(event: MouseEvent): number | undefined {
    const { x, y } = this.#pointOf(event);
    const { scale, ...at } = this.#viewport;
    return this.#scene?.nodeAt(at.x + x / scale, at.y + y / scale);
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#drag = { x: event.clientX, y: event.clientY, viewport: this.#viewport };
  }

  #move({ clientX, clientY }: PointerEvent): void {
    if (this.#drag === undefined) return;
    const { x, y, viewport } = this.#drag;
    this.#look({
      x: viewport.x - (clientX - x) / viewport.scale,
      y: viewport.y - (clientY - y) / viewport.scale,
    });
  }

  #release(event: PointerEvent): void {
    const drag = this.#drag;
    this.#drag = undefined;
    if (drag === undefined) return;
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > CLICK_PX) return;
    this.#choose(this.#nodeUnder(event));
  }

  /** Turned with the key Ctrl, as a trackpad's pinch is, it zooms; without it, it scrolls. */
  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      this.zoom(Math.exp(-event.deltaY * unit * 0.003), this.#pointOf(event));
    } else if (event.shiftKey) this.pan(event.deltaY * unit, 0);
    else this.pan(event.deltaX * unit, event.deltaY * unit);
  }

  /** Carries out the command of a key. Returns false if the key has none. */
  #key({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    if (ctrlKey || metaKey || altKey) return false;
    const pan = PANS[key];
    if (pan !== undefined) {
      const [x, y] = pan;
      if (shiftKey) this.pan(x * KEY_PAN, y * KEY_PAN);
      else this.#walk(x, y);
      return true;
    }
    switch (key) {
      case '+':
      case '=':
        this.zoom(ZOOM_STEP);
        return true;
      case '-':
        this.zoom(1 / ZOOM_STEP);
        return true;
      case '0':
        this.fitAll();
        return true;
      case 'Home':
        this.fitWidth();
        return true;
      case 'Escape':
        this.#choose(undefined);
        return true;
      case 'Enter':
        if (this.#current !== undefined) this.#events.onOpen(this.#current);
        return this.#current !== undefined;
      default:
        return false;
    }
  }

  /** Down to a reader of the node, up to what it reads, left and right in its layer. */
  #walk(x: number, y: number): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { left, right, top } = areaOf(this.#viewport);
    const node = this.#current;
    let next: number | undefined;
    if (node === undefined) next = scene.nearest((left + right) / 2, Math.max(0, top));
    else if (x !== 0) next = scene.beside(node, x < 0 ? -1 : 1);
    else next = (y > 0 ? scene.outputs : scene.inputs)[node]?.[0];
    if (next === undefined) return;
    this.#choose(next);
    this.#keepInSight(next);
  }

  #keepInSight(node: number): void {
    const { left, right, top, bottom } = areaOf(this.#viewport);
    const [x = 0, y = 0] = [this.#scene?.layout.x[node], this.#scene?.layout.y[node]];
    const [w, h] = [(right - left) / 8, (bottom - top) / 8];
    if (x < left + w || x > right - w || y < top + h || y > bottom - h) this.reveal(node);
  }

  #choose(node: number | undefined): void {
    this.select(node === undefined ? [] : [node]);
    this.#events.onSelect(node);
  }
}

const PANS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
