import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit-html';
import { formatBytes } from '../../core/format-quantity.ts';
import type { DebugMemory, DebugStorage, StorageUse } from '../../worker/protocol/debug-order.ts';
import { heapView } from './value-view.ts';

const SHOWN_STORAGES = 60;

/** Storages as bars, in which the tensors of registers lie, and shape heaps. */
export function memoryView({ storages, heaps, heldBytes }: DebugMemory): TemplateResult {
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
  const holders = [...new Set(uses.map(nameOf))].join(' ');
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

const nameOf = ({ frame, register }: StorageUse): string =>
  frame === 0 ? `%${register}` : `%${register}↑${frame}`;
