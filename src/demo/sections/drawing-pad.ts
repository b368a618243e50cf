import type { Drawing, Point } from '../digits/rasterize-drawing.ts';
import { context2d } from '../element.ts';

/** The pad is a square of this many units, whatever its size on the screen. */
export const PAD_SIZE = 280;
const PEN_RADIUS = 11;
const KEY_STEP = 14;
const FINE_KEY_STEP = 4;
const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export interface DrawingPadOptions {
  onChange(drawing: Drawing): void;
  /** Somebody is about to draw, before anything is drawn. */
  onTouch(): void;
  /** Says something to people who do not see the pad. */
  announce(text: string): void;
}

/** A canvas that one draws on with mouse, pen, finger or keyboard. */
export class DrawingPad {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #options: DrawingPadOptions;
  #strokes: Point[][] = [];
  /** The pointer that draws; others (a resting palm) are ignored. */
  #pointer: number | undefined;
  #cursor: Point = { x: PAD_SIZE / 2, y: PAD_SIZE / 4 };
  #isPenDown = false;

  constructor(canvas: HTMLCanvasElement, options: DrawingPadOptions) {
    this.#canvas = canvas;
    this.#context = context2d(canvas);
    this.#options = options;
    canvas.addEventListener('pointerdown', (event) => this.#onPointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.#onPointerMove(event));
    for (const type of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(type, (event) => this.#onPointerUp(event));
    }
    canvas.addEventListener('keydown', (event) => this.#onKey(event));
    for (const type of ['focus', 'blur']) canvas.addEventListener(type, () => this.#paint());
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', () => this.#paint());
    this.#paint();
  }

  get drawing(): Drawing {
    return { strokes: this.#strokes, penRadius: PEN_RADIUS };
  }

  /** Replaces the drawing. Points are in units of the pad. */
  show(strokes: readonly (readonly Point[])[]): void {
    this.#strokes = strokes.map((stroke) => [...stroke]);
    this.#isPenDown = false;
    this.#changed();
  }

  clear(): void {
    this.show([]);
  }

  undo(): void {
    this.show(this.#strokes.slice(0, -1));
  }

  #onPointerDown(event: PointerEvent): void {
    if (this.#pointer !== undefined || event.button !== 0) return;
    this.#pointer = event.pointerId;
    this.#options.onTouch();
    this.#canvas.setPointerCapture(event.pointerId);
    this.#isPenDown = false;
    this.#strokes.push([this.#toPad(event)]);
    this.#changed();
  }

  #onPointerMove(event: PointerEvent): void {
    if (event.pointerId !== this.#pointer) return;
    const fine = event.getCoalescedEvents();
    for (const point of fine.length === 0 ? [event] : fine) this.#extend(this.#toPad(point));
    this.#changed();
  }

  #onPointerUp(event: PointerEvent): void {
    if (event.pointerId === this.#pointer) this.#pointer = undefined;
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow === undefined && event.key !== ' ' && event.key !== 'Escape') return;
    this.#options.onTouch();
    if (arrow !== undefined) this.#moveCursor(arrow, event.shiftKey ? FINE_KEY_STEP : KEY_STEP);
    else if (event.key === ' ') this.#togglePen();
    else this.#clearByKey();
    event.preventDefault();
  }

  #moveCursor(direction: Point, step: number): void {
    const clamp = (value: number): number =>
      Math.min(PAD_SIZE - PEN_RADIUS, Math.max(PEN_RADIUS, value));
    this.#cursor = {
      x: clamp(this.#cursor.x + direction.x * step),
      y: clamp(this.#cursor.y + direction.y * step),
    };
    if (!this.#isPenDown) {
      this.#paint();
      return;
    }
    this.#extend(this.#cursor);
    this.#changed();
  }

  #togglePen(): void {
    this.#isPenDown = !this.#isPenDown;
    this.#options.announce(this.#isPenDown ? 'Pen down' : 'Pen up');
    if (this.#isPenDown) this.#strokes.push([this.#cursor]);
    this.#changed();
  }

  #clearByKey(): void {
    this.clear();
    this.#options.announce('Cleared');
  }

  #extend(point: Point): void {
    this.#strokes[this.#strokes.length - 1]?.push(point);
  }

  #toPad(event: PointerEvent): Point {
    const box = this.#canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * PAD_SIZE,
      y: ((event.clientY - box.top) / box.height) * PAD_SIZE,
    };
  }

  #changed(): void {
    this.#paint();
    this.#options.onChange(this.drawing);
  }

  #paint(): void {
    const context = this.#context;
    const style = getComputedStyle(this.#canvas);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.scale(this.#canvas.width / PAD_SIZE, this.#canvas.height / PAD_SIZE);
    context.lineCap = 'round';
    context.lineJoin = 'round';
    context.lineWidth = 2 * PEN_RADIUS;
    context.strokeStyle = style.color;
    for (const stroke of this.#strokes) this.#paintStroke(stroke);
    if (this.#canvas.matches(':focus-visible')) this.#paintCursor();
  }

  #paintStroke(stroke: readonly Point[]): void {
    const first = stroke[0];
    if (first === undefined) return;
    this.#context.beginPath();
    this.#context.moveTo(first.x, first.y);
    for (const { x, y } of stroke) this.#context.lineTo(x, y);
    this.#context.stroke();
  }

  #paintCursor(): void {
    const context = this.#context;
    context.lineWidth = 2;
    context.strokeStyle = getComputedStyle(this.#canvas).accentColor;
    context.beginPath();
    context.arc(this.#cursor.x, this.#cursor.y, PEN_RADIUS, 0, 2 * Math.PI);
    if (!this.#isPenDown) {
      context.moveTo(this.#cursor.x - 18, this.#cursor.y);
      context.lineTo(this.#cursor.x + 18, this.#cursor.y);
      context.moveTo(this.#cursor.x, this.#cursor.y - 18);
      context.lineTo(this.#cursor.x, this.#cursor.y + 18);
    }
    context.stroke();
  }
}
