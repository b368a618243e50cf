import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Remote } from 'comlink';
import { formatBytes, formatCount } from '../../core/format-quantity.ts';
import type { GraphNode } from '../program/program-graph.ts';
import type { ProgramService } from '../program/program-service.ts';
import type { MemoryUse, StorageLife } from '../../bytecode/memory/memory-use.ts';
import { MemoryView } from './memory-view.ts';

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
