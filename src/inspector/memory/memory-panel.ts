import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Remote } from 'comlink';
import { formatBytes, formatCount } from '../../core/format-quantity.ts';
import type { GraphNode } from '../program/program-graph.ts';
import type { ProgramService } from '../program/program-service.ts';
import type { MemoryUse, StorageLife } from '../../bytecode/memory/memory-use.ts';
import { FrameCanvas } from '../view/frame-canvas.ts';

/** Pixels left free around the drawing. */
const MARGIN = 10;
const COLOURS = ['accent', 'accent-soft', 'heat', 'bad', 'line', 'ink', 'surface'] as const;
type Colours = Readonly<Record<(typeof COLOURS)[number], string>>;

/** Storages of a function over its instructions, drawn on a canvas. */
class MemoryView {
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

/** Storages that are listed. */
const MOST_LISTED = 200;

interface MemoryPanelEvents {
  onInstruction(instruction: number): void;
  nodeAt(instruction: number): GraphNode | undefined;
}

/** The memory that a function plans: which storage is held from which instruction to which, and what holds the peak. */
export class MemoryPanel {
  readonly #root: HTMLElement;
  readonly #events: MemoryPanelEvents;
  readonly #view = new MemoryView((storage) => this.#choose(storage));
  readonly #sizes = new Map<string, number>();
  #service: Remote<ProgramService> | undefined;
  #function = 'main';
  #use: MemoryUse | undefined;
  #chosen: number | undefined;
  #instruction: number | undefined;

  constructor(root: HTMLElement, events: MemoryPanelEvents) {
    this.#root = root;
    this.#events = events;
  }

  /** Takes sizes that are known of inputs. */
  use(sizes: ReadonlyMap<string, number>): void {
    this.#sizes.clear();
    for (const [symbol, size] of sizes) this.#sizes.set(symbol, size);
  }

  async show(service: Remote<ProgramService>, functionName: string): Promise<void> {
    this.#service = service;
    this.#function = functionName;
    this.#chosen = undefined;
    this.#instruction = undefined;
    await this.#load();
  }

  /** Marks the line of an instruction. */
  select(instruction: number | undefined): void {
    this.#instruction = instruction;
    this.#mark();
  }

  async #load(): Promise<void> {
    const use = await this.#service?.memory(this.#function, [...this.#sizes]);
    if (use === undefined) return;
    const unknown = use.symbols.filter((symbol) => !this.#sizes.has(symbol));
    if (unknown.length > 0) {
      for (const symbol of unknown) this.#sizes.set(symbol, 1);
      return this.#load();
    }
    this.#use = use;
    this.#view.show(use);
    this.#mark();
  }

  #choose(storage: number | undefined): void {
    this.#chosen = storage;
    const { writers = [] } = this.#use?.storages[storage ?? -1] ?? {};
    const [writer] = writers;
    if (writer !== undefined) this.#events.onInstruction(writer);
    this.#mark();
  }

  #mark(): void {
    this.#view.mark(this.#chosen, this.#instruction);
    render(this.#template(), this.#root);
  }

  #template(): TemplateResult | typeof nothing {
    const use = this.#use;
    if (use === undefined) return nothing;
    const { peak } = use;
    const label = `Memory of ${this.#function}: at most ${formatBytes(peak.byteLength)}`;
    this.#view.canvas.setAttribute('aria-label', label);
    const unknown = use.storages.filter(({ byteLength }) => byteLength === undefined).length;
    return html`<div class="memory">
        <form class="toolbar" @submit=${(event: Event) => event.preventDefault()}>
          ${use.symbols.map((symbol) => this.#field(symbol))}
          <span class="facts" role="status">
            ${label}, at instruction ${peak.instruction}.
            ${unknown === 0 ? nothing : `${formatCount(unknown, 'storage')} of sizes that elements decide not counted.`}
          </span>
        </form>
        ${this.#view.canvas}
      </div>
      <aside aria-label="Storages">
        ${this.#chosenStorage()}
        <h3>Held at the peak</h3>
        <ul>
          ${this.#atPeak(use).map((storage) => this.#item(storage))}
        </ul>
        <p class="facts">
          Storages as the program allocates them, and inputs (grey), over its instructions. Constants and temporary memory of
          kernels come on top.
        </p>
      </aside>`;
  }

  #field(symbol: string): TemplateResult {
    return html`<label
      >${symbol}
      <input
        type="number"
        min="0"
        .value=${String(this.#sizes.get(symbol) ?? 1)}
        @change=${(event: Event) => {
          this.#sizes.set(symbol, Number((event.target as HTMLInputElement).value));
          void this.#load();
        }}
    /></label>`;
  }

  /** Numbers of the storages that are held at the peak, the largest first. */
  #atPeak({ storages, peak: { instruction } }: MemoryUse): readonly number[] {
    const isHeld = ({ spans }: StorageLife): boolean =>
      spans.some(([first, last]) => first <= instruction && instruction <= last);
    const sizeOf = (storage: number): number => storages[storage]?.byteLength ?? 0;
    return [...storages.entries()]
      .flatMap(([number, storage]) => (isHeld(storage) ? [number] : []))
      .toSorted((a, b) => sizeOf(b) - sizeOf(a))
      .slice(0, MOST_LISTED);
  }

  #item(storage: number): TemplateResult {
    const life = this.#use?.storages[storage];
    const size = life?.byteLength === undefined ? 'unknown size' : formatBytes(life.byteLength);
    return html`<li>
      <button type="button" aria-pressed=${storage === this.#chosen} @click=${() => this.#choose(storage)}>
        ${size}, ${this.#nameOf(life)}
      </button>
    </li>`;
  }

  /** An input, or what was written into it last before the peak. */
  #nameOf({ input, instruction, writers = [] }: Partial<StorageLife> = {}): string {
    if (input !== undefined) return `input ${input}`;
    const peak = this.#use?.peak.instruction ?? 0;
    const writer = writers.findLast((each) => each <= peak) ?? writers[0];
    const node = writer === undefined ? undefined : this.#events.nodeAt(writer);
    return node === undefined
      ? `allocated at ${instruction}`
      : [...node.scope, node.label].join('/');
  }

  #chosenStorage(): TemplateResult | typeof nothing {
    const life = this.#use?.storages[this.#chosen ?? -1];
    if (life === undefined) return nothing;
    const { byteLength, spans, writers, isOnHost } = life;
    return html`<h3>${this.#nameOf(life)}</h3>
      <dl>
        <dt>size</dt>
        <dd>${byteLength === undefined ? 'unknown' : formatBytes(byteLength)}</dd>
        <dt>held</dt>
        <dd>${spans.map(([first, last]) => `${first} to ${last}`).join(', ')}</dd>
        ${isOnHost ? html`<dt>lies on</dt><dd>the host</dd>` : nothing}
      </dl>
      ${writers.length === 0 ? nothing : html`<h3>Written by</h3>`}
      <ul>
        ${writers.slice(0, MOST_LISTED).map(
          (writer) => html`<li>
            <button type="button" @click=${() => this.#events.onInstruction(writer)}>
              ${writer}: ${this.#events.nodeAt(writer)?.label ?? 'kernel'}
            </button>
          </li>`,
        )}
      </ul>`;
  }
}
