import { html, nothing, type TemplateResult } from 'lit-html';
import { formatBytes, formatMs } from '../../core/format-quantity.ts';
import type { TimelineEvent } from '../../core/run-timeline.ts';

/** Describes an event in a line. */
export function describeEvent({ kind, name, beginMs, endMs, bytes }: TimelineEvent): string {
  const size = bytes === undefined ? '' : `, ${formatBytes(bytes)}`;
  return `${name}, ${kind}${size}, ${formatMs(endMs - beginMs)} from ${formatMs(beginMs)} on.`;
}

/** A view of all that is known of an event. */
export function eventDetails(
  event: TimelineEvent,
  onShow: (event: TimelineEvent) => void,
): TemplateResult {
  const { kind, name, label, at, work } = event;
  const canShow = at !== undefined || kind === 'kernel';
  return html`<h3>${name}</h3>
    <dl>
      ${label === undefined ? nothing : html`<dt>shader or operator</dt><dd class="mono">${label}</dd>`}
      ${at === undefined ? nothing : html`<dt>instruction</dt><dd>${at.instruction} of ${at.function}</dd>`}
      ${work === undefined ? nothing : html`<dt>work</dt><dd>${work.operations.toLocaleString('en')} FLOP, ${formatBytes(work.bytes)}</dd>`}
    </dl>
    ${canShow ? html`<button type="button" @click=${() => onShow(event)}>Show it in the graph</button>` : nothing}`;
}
