import type { MemoryUse } from '../../bytecode/memory/memory-use.ts';
import { FrameCanvas } from '../view/frame-canvas.ts';

/** Pixels left free around the drawing. */
const MARGIN = 10;
const COLOURS = ['accent', 'accent-soft', 'heat', 'bad', 'line', 'ink', 'surface'] as const;
type Colours = Readonly<Record<(typeof COLOURS)[number], string>>;

/** Storages of a function over its instructions, drawn on a canvas. */
export class MemoryView {
  readonly #onChoose: (storage: number | undefined) => void;
  readonly #frames = new FrameCanvas('memory-drawing', {
    colours: COLOURS,
    draw: (context, { colours }) => this.#draw(context, colours),
  });
  #use: MemoryUse | undefined;
  #boxes: readonly StorageBox[] = [];
  /** The upper end of the highest box. */
  #height = 1;
  #chosen: number | undefined;
  #instruction: number | undefined;

  /** `onChoose` is called for a click on a storage, or beside all. */
  constructor(onChoose: (storage: number | undefined) => void) {
    this.#onChoose = onChoose;
    this.canvas.setAttribute('role', 'img');
    this.canvas.addEventListener('click', ({ offsetX, offsetY }) => {
      this.#onChoose(this.#at(offsetX, offsetY)?.storage);
    });
  }

  get canvas(): HTMLCanvasElement {
    return this.#frames.canvas;
  }

  show(use: MemoryUse): void {
    this.#use = use;
    this.#boxes = placeStorages(use);
    this.#height = this.#boxes.reduce((highest, { to }) => Math.max(highest, to), 1);
    this.#chosen = undefined;
    this.redraw();
  }

  mark(storage: number | undefined, instruction: number | undefined): void {
    this.#chosen = storage;
    this.#instruction = instruction;
    this.redraw();
  }

  redraw(): void {
    this.#frames.redraw();
  }

  #draw(context: CanvasRenderingContext2D, colours: Colours): void {
    if (this.#use === undefined) return;
    for (const box of this.#boxes) this.#drawBox(context, box, colours);
    this.#drawLine(context, this.#use.peak.instruction, colours.heat);
    if (this.#instruction !== undefined) this.#drawLine(context, this.#instruction, colours.ink);
  }

  #drawBox(context: CanvasRenderingContext2D, box: StorageBox, colours: Colours): void {
    const [left, right] = [this.#x(box.first), this.#x(box.last + 1)];
    const [top, bottom] = [this.#y(box.to), this.#y(box.from)];
    const isInput = this.#use?.storages[box.storage]?.input !== undefined;
    const plain = isInput ? colours.line : colours['accent-soft'];
    context.fillStyle = box.storage === this.#chosen ? colours.accent : plain;
    context.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
    if (right - left < 3 || bottom - top < 3) return;
    context.strokeStyle = colours.surface;
    context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  }

  #drawLine(context: CanvasRenderingContext2D, instruction: number, colour: string): void {
    context.fillStyle = colour;
    context.fillRect(this.#x(instruction + 0.5) - 1, 0, 2, this.canvas.clientHeight);
  }

  #at(x: number, y: number): StorageBox | undefined {
    return this.#boxes.find(
      (box) =>
        x >= this.#x(box.first) &&
        x <= this.#x(box.last + 1) &&
        y <= this.#y(box.from) &&
        y >= this.#y(box.to),
    );
  }

  #x(instruction: number): number {
    const count = Math.max(1, this.#use?.instructionCount ?? 1);
    const at = Math.min(instruction, count) / count;
    return MARGIN + at * (this.canvas.clientWidth - 2 * MARGIN);
  }

  #y(bytes: number): number {
    const { clientHeight } = this.canvas;
    return clientHeight - MARGIN - (bytes / this.#height) * (clientHeight - 2 * MARGIN);
  }
}

/** A storage as a rectangle: instructions from left to right, bytes from the bottom up. */
export interface StorageBox {
  /** Its place in `MemoryUse.storages`. */
  readonly storage: number;
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Boxes that do not overlap, each as low as those before it leave room: inputs first, then in the order of allocation.
 * Storages of unknown or no size have none.
 */
export function placeStorages({ storages }: MemoryUse): readonly StorageBox[] {
  const boxes: StorageBox[] = [];
  const all = storages.flatMap(({ spans, byteLength = 0 }, storage) =>
    byteLength === 0 ? [] : spans.map(([first, last]) => ({ storage, first, last, byteLength })),
  );
  let open: StorageBox[] = [];
  for (const { storage, first, last, byteLength } of all.toSorted((a, b) => a.first - b.first)) {
    open = open.filter((other) => other.last >= first);
    let from = 0;
    for (const other of open) {
      if (other.from >= from + byteLength) break;
      from = Math.max(from, other.to);
    }
    const box = { storage, first, last, from, to: from + byteLength };
    boxes.push(box);
    open.push(box);
    open.sort((a, b) => a.from - b.from);
  }
  return boxes;
}
