import { html, nothing, type TemplateResult, svg, type SVGTemplateResult } from 'lit-html';
import type {
  DebugFrame,
  DebugValue,
  DebugMemory,
  DebugStorage,
  StorageUse,
} from '../../worker/protocol/debug-order.ts';
import type { ChosenValue, SeenState } from './stepped-run.ts';
import { valueView, heapView } from './value-view.ts';
import { formatBytes } from '../../core/format-quantity.ts';

interface RegistersEvents {
  readonly onFrame: (frame: number) => void;
  readonly onValue: (chosen: ChosenValue) => void;
}

/** Frames, and what the registers of one of them hold. */
export function registersView(
  seen: SeenState | undefined,
  { onFrame, onValue }: RegistersEvents,
): TemplateResult {
  const { place, frame = 0, registers = [], chosen } = seen ?? {};
  return html`<section>
    <h3>Frames</h3>
    ${place === undefined || place.frames.length === 0 ? html`<p class="facts">None.</p>` : nothing}
    <ol class="frames">
      ${(place?.frames ?? []).map(
        (each, number) => html`<li>
          <button type="button" aria-pressed=${number === frame} @click=${() => onFrame(number)}>
            ${frameView(each)}
          </button>
        </li>`,
      )}
    </ol>
    ${restOf(place)}
    <h3>Registers</h3>
    ${registers.length === 0 ? html`<p class="facts">None.</p>` : nothing}
    <ul class="registers">
      ${registers.map((register) => registerView(register, chosen?.register === register.index, onValue))}
    </ul>
  </section>`;
}

function frameView({ function: name, instruction, sources }: DebugFrame): TemplateResult {
  return html`<span class="mono">${name} ${instruction}</span>
    ${sources.length === 0 ? nothing : html`<span class="sources">${sources.join(', ')}</span>`}`;
}

function restOf(place: SeenState['place'] | undefined): TemplateResult | typeof nothing {
  const hidden = (place?.depth ?? 0) - (place?.frames.length ?? 0);
  return hidden > 0 ? html`<p class="facts">and ${hidden} more</p>` : nothing;
}

function registerView(
  { index, text, isUnwritten }: DebugValue,
  isChosen: boolean,
  onValue: RegistersEvents['onValue'],
): TemplateResult {
  return html`<li>
    <button
      type="button"
      aria-pressed=${isChosen}
      @click=${() => onValue({ register: index, path: [] })}
    >
      <span class="mono">%${index}</span> ${text}${isUnwritten ? ', not written yet' : ''}
    </button>
  </li>`;
}

/** The value that is chosen, and the memory that registers hold. */
export function placeView(
  seen: SeenState | undefined,
  onValue: RegistersEvents['onValue'],
): TemplateResult {
  const { chosen, detail, memory } = seen ?? {};
  return html`<section>
    <h3>Value${chosen === undefined ? '' : html` <span class="mono">${nameOf(chosen)}</span>`}</h3>
    ${
      chosen === undefined || detail === undefined
        ? html`<p class="facts">Choose a register.</p>`
        : html`${chosen.path.length === 0 ? nothing : backButton(chosen, onValue)}
          ${valueView(detail, (part) => onValue({ ...chosen, path: [...chosen.path, part] }))}`
    }
    <h3>Memory</h3>
    ${memory === undefined ? html`<p class="facts">None.</p>` : memoryView(memory)}
  </section>`;
}

function backButton(chosen: ChosenValue, onValue: RegistersEvents['onValue']): TemplateResult {
  const up = { ...chosen, path: chosen.path.slice(0, -1) };
  return html`<button type="button" @click=${() => onValue(up)}>Back to ${nameOf(up)}</button>`;
}

const nameOf = ({ register, path }: ChosenValue): string =>
  [`%${register}`, ...path.map((part) => `[${part}]`)].join('');

const SHOWN_STORAGES = 60;

/** Storages as bars, in which the tensors of registers lie, and shape heaps. */
function memoryView({ storages, heaps, heldBytes }: DebugMemory): TemplateResult {
  const own = storages.filter(({ isReadOnly }) => !isReadOnly);
  const largest = Math.max(...own.map(({ byteLength }) => byteLength), 1);
  const hidden = own.length - SHOWN_STORAGES;
  return html`<p class="facts">
      ${own.length === 0 ? 'No storage is held.' : `${formatBytes(heldBytes)} held`}
    </p>
    <ul class="storages">
      ${own.slice(0, SHOWN_STORAGES).map((storage) => storageView(storage, largest))}
    </ul>
    ${hidden > 0 ? html`<p class="facts">and ${hidden} more</p>` : nothing}
    ${heaps.map(
      ({ register, slots }) => html`<h4>Shape heap in <span class="mono">%${register}</span></h4>
        ${heapView(slots)}`,
    )}`;
}

function storageView(
  { number, device, byteLength, uses }: DebugStorage,
  largest: number,
): TemplateResult {
  const holders = [...new Set(uses.map(holderName))].join(' ');
  // In hundredths of the largest one, and never too small to be seen.
  const width = Math.max(2, Math.round((byteLength / largest) * 100));
  // The storage itself is held too, from its allocation on.
  const segments = uses.filter(({ text }) => !text.startsWith('storage'));
  return html`<li>
    <span class="mono">#${number}</span> ${formatBytes(byteLength)} on ${device},
    <span class="mono">${holders}</span>
    <svg class="storage" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="storage-all" width=${width} height="8"></rect>
      ${segments.map((use) => segment(use, width / Math.max(byteLength, 1)))}
    </svg>
  </li>`;
}

/** The part of a storage that a tensor lies in. */
function segment({ byteOffset, byteLength }: StorageUse, perByte: number): SVGTemplateResult {
  return svg`<rect
    class="storage-tensor"
    x=${byteOffset * perByte}
    y="1.5"
    width=${byteLength * perByte}
    height="5"
  ></rect>`;
}

const holderName = ({ frame, register }: StorageUse): string =>
  frame === 0 ? `%${register}` : `%${register}↑${frame}`;
