import { html, type TemplateResult } from 'lit-html';
import type { Breakpoint } from '../../worker/protocol/debug-order.ts';
import { type BreakpointChoice, describeBreakpoint } from './breakpoint-choice.ts';

const NAN: Breakpoint = { output: 'nan' };
const INFINITY: Breakpoint = { output: 'infinity' };

/**
 * Fields for conditions on outputs and for names of nodes, and a list of all breakpoints at
 * instructions.
 */
export function breakpointView(choice: BreakpointChoice, onChange: () => void): TemplateResult {
  const toggle = (breakpoint: Breakpoint): void => {
    choice.toggle(breakpoint);
    onChange();
  };
  const test = (breakpoint: Breakpoint, name: string): TemplateResult =>
    html`<label
      ><input
        type="checkbox"
        .checked=${choice.has(breakpoint)}
        @change=${() => toggle(breakpoint)}
      />
      ${name}</label
    >`;
  const placed = choice.all.filter((each) => 'at' in each || 'node' in each);
  return html`<form class="conditions" @submit=${(event: Event) => addName(event, toggle)}>
      <span>Stop at outputs with</span>
      ${test(NAN, 'NaN')} ${test(INFINITY, 'infinity')}
      <label
        >beyond ±
        <input
          type="number"
          min="0"
          step="any"
          @change=${(event: Event) => {
            const limit = Number((event.target as HTMLInputElement).value);
            choice.limit(limit > 0 ? limit : undefined);
            onChange();
          }}
      /></label>
      <label>at a node <input name="node" autocomplete="off" placeholder="name" /></label>
      <button>Add</button>
    </form>
    <ul class="breakpoints" aria-label="Breakpoints">
      ${placed.map(
        (each) => html`<li>
          <button type="button" title="Remove" @click=${() => toggle(each)}>
            ${describeBreakpoint(each)} <span aria-hidden="true">×</span
            ><span class="visually-hidden">, remove</span>
          </button>
        </li>`,
      )}
    </ul>`;
}

function addName(event: Event, toggle: (breakpoint: Breakpoint) => void): void {
  event.preventDefault();
  const field = (event.target as HTMLFormElement).elements.namedItem('node');
  if (!(field instanceof HTMLInputElement) || field.value.trim() === '') return;
  toggle({ node: field.value.trim() });
  field.value = '';
}
