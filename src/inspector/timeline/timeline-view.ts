import type { RunTimeline, TimelineEvent } from '../../core/contracts/run-timeline.ts';
import { FrameCanvas } from '../view/frame-canvas.ts';
import { drawTimeline, TIMELINE_COLOURS, type TimeWindow } from './draw-timeline.ts';
import { type EventPlace, TimelineScene } from './timeline-scene.ts';

const ZOOM_STEP = 1.5;
/** The part of the time in sight by which a key moves the view. */
const KEY_PAN = 0.2;
/** How far a pointer may move in a click, and how near to an event it has to be. */
const CLICK_PX = 4;
/** No clock of a browser tells less apart. */
const LEAST_WINDOW_MS = 0.01;

/** The events of a run on a canvas: what is seen is drawn, at most once in a frame, after anything has changed. */
export class TimelineView {
  /** Events that the last frame drew. */
  drawn = 0;
  readonly #onSelect: (event: TimelineEvent | undefined) => void;
  readonly #frames = new FrameCanvas('timeline-drawing', {
    colours: TIMELINE_COLOURS,
    draw: (context, { width, colours }) => {
      if (this.#scene === undefined) return;
      const [window, selected] = [this.#window, this.#selected];
      this.drawn = drawTimeline(context, this.#scene, { colours, width, window, selected });
    },
  });
  readonly #pointers = new Map<number, PointerEvent>();
  #scene: TimelineScene | undefined;
  #window: TimeWindow = { beginMs: 0, endMs: 1 };
  #selected: EventPlace | undefined;
  #moved = 0;

  /** `onSelect` is called for an event that is chosen, by pointer or keys. */
  constructor(onSelect: (event: TimelineEvent | undefined) => void) {
    this.#onSelect = onSelect;
    const { canvas } = this;
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'application');
    canvas.addEventListener('pointerdown', (event) => this.#press(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    canvas.addEventListener('pointerup', (event) => this.#release(event));
    canvas.addEventListener('pointercancel', ({ pointerId }) => this.#pointers.delete(pointerId));
    canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener('keydown', (event) => {
      if (this.#key(event)) event.preventDefault();
    });
  }

  get canvas(): HTMLCanvasElement {
    return this.#frames.canvas;
  }

  show(run: RunTimeline): void {
    this.#scene = new TimelineScene(run);
    this.#selected = undefined;
    this.canvas.style.blockSize = `${this.#scene.height}px`;
    this.fit();
  }

  /** The stretch of time in sight. */
  get window(): TimeWindow {
    return this.#window;
  }

  fit(): void {
    const totalMs = this.#scene?.totalMs ?? 1;
    this.#look(0, totalMs);
  }

  /** Zooms about a moment; default: the chosen event, else the middle. */
  zoom(factor: number, aboutMs = this.#about()): void {
    const { beginMs, endMs } = this.#window;
    this.#look(aboutMs - (aboutMs - beginMs) / factor, aboutMs + (endMs - aboutMs) / factor);
  }

  /** Marks an event and brings it into sight. */
  reveal(event: TimelineEvent): void {
    this.#choose(this.#scene?.placeOf(event));
  }

  redraw(): void {
    this.#frames.redraw();
  }

  #about(): number {
    const chosen = this.#selected && this.#scene?.event(this.#selected);
    const { beginMs, endMs } = this.#window;
    const isSeen = chosen !== undefined && chosen.endMs >= beginMs && chosen.beginMs <= endMs;
    return isSeen ? (chosen.beginMs + chosen.endMs) / 2 : (beginMs + endMs) / 2;
  }

  /** Within the run, and no less than clocks tell apart. */
  #look(beginMs: number, endMs: number): void {
    const total = this.#scene?.totalMs ?? 1;
    const length = Math.min(Math.max(endMs - beginMs, Math.min(LEAST_WINDOW_MS, total)), total);
    const begin = Math.min(Math.max(beginMs, 0), total - length);
    this.#window = { beginMs: begin, endMs: begin + length };
    this.redraw();
  }

  #pan(byMs: number): void {
    this.#look(this.#window.beginMs + byMs, this.#window.endMs + byMs);
  }

  get #msPerPixel(): number {
    const { beginMs, endMs } = this.#window;
    return (endMs - beginMs) / Math.max(1, this.canvas.clientWidth);
  }

  #msAt({ clientX }: MouseEvent): number {
    const { left } = this.canvas.getBoundingClientRect();
    return this.#window.beginMs + (clientX - left) * this.#msPerPixel;
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    if (this.#pointers.size === 0) this.#moved = 0;
    this.#pointers.set(event.pointerId, event);
  }

  /** One pointer drags, two pinch. */
  #move(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const other = [...this.#pointers.values()].find(
      ({ pointerId }) => pointerId !== event.pointerId,
    );
    if (other === undefined) this.#pan((before.clientX - event.clientX) * this.#msPerPixel);
    else {
      const [from, to] = [before, event].map(({ clientX }) => Math.abs(clientX - other.clientX));
      this.zoom(Math.max(to ?? 1, 1) / Math.max(from ?? 1, 1), this.#msAt(other));
    }
    this.#moved += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    this.#pointers.set(event.pointerId, event);
  }

  #release(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId) || this.#moved > CLICK_PX) return;
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    this.#choose(this.#scene?.eventAt(y, this.#msAt(event), CLICK_PX * this.#msPerPixel), false);
  }

  /** Turned with the key Ctrl, as a trackpad's pinch is, it zooms; sideways or with Shift, it moves. */
  #wheel(event: WheelEvent): void {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const { deltaX, deltaY, ctrlKey, metaKey, shiftKey } = event;
    if (ctrlKey || metaKey) this.zoom(Math.exp(-deltaY * unit * 0.003), this.#msAt(event));
    else if (shiftKey) this.#pan(deltaY * unit * this.#msPerPixel);
    else if (deltaX !== 0) this.#pan(deltaX * unit * this.#msPerPixel);
    // Vertical movement scrolls the view around the drawing.
    else return;
    event.preventDefault();
  }

  /** Carries out the command of a key. Returns false if the key has none. */
  #key({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    if (ctrlKey || metaKey || altKey) return false;
    const step = STEPS[key];
    const { beginMs, endMs } = this.#window;
    if (step !== undefined) {
      const [x, y] = step;
      if (shiftKey) this.#pan(x * KEY_PAN * (endMs - beginMs));
      else this.#choose(this.#scene?.beside(this.#selected, x, y));
    } else if (key === '+' || key === '=') this.zoom(ZOOM_STEP);
    else if (key === '-') this.zoom(1 / ZOOM_STEP);
    else if (key === '0' || key === 'Home') this.fit();
    else if (key === 'Escape') this.#choose(undefined);
    else return false;
    return true;
  }

  #choose(place: EventPlace | undefined, reveals = true): void {
    this.#selected = place;
    const event = place && this.#scene?.event(place);
    if (reveals && event !== undefined) this.#keepInSight(event);
    this.#onSelect(event);
    this.redraw();
  }

  #keepInSight({ beginMs: from, endMs: to }: TimelineEvent): void {
    const { beginMs, endMs } = this.#window;
    if (to >= beginMs && from <= endMs) return;
    this.#pan((from + to) / 2 - (beginMs + endMs) / 2);
  }
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
