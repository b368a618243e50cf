import { html, nothing, type TemplateResult } from 'lit-html';
import type { DebugFrame, DebugValue } from '../../worker/protocol/debug-order.ts';
import { memoryView } from './memory-view.ts';
import type { ChosenValue, SeenState } from './stepped-run.ts';
import { valueView } from './value-view.ts';

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
