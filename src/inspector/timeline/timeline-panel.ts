import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Inputs } from '../../client/values/input-value.ts';
import type { Session } from '../../client/session.ts';
import { describeError, formatBytes, formatCount, formatMs } from '../../core/format-quantity.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import {
  MOST_TIMELINE_RUNS,
  type RunTimeline,
  type RunTimelines,
  type TimelineEvent,
  type TimelineKind,
} from '../../core/contracts/run-timeline.ts';
import { InputChoice } from '../run/input-choice.ts';
import { adoptStyle } from '../view/adopt-style.ts';
import { NO_SESSION } from '../view/no-session.ts';
import { chromeTrace } from './chrome-trace.ts';
import { peakOf } from './held-bytes.ts';
import { kernelLoads } from './kernel-loads.ts';
import { kernelTable } from './kernel-table.ts';
import { runAdvice } from './run-advice.ts';
import { TimelineView } from './timeline-view.ts';
import { median } from '../../core/median.ts';
import type { Interval } from './intervals.ts';
import { eventsOfKind, LANE_TITLES } from './timeline-lanes.ts';

/** The style of the view *Timeline*, beside that of the inspector. */
const TIMELINE_STYLE = /* css */ `
.timeline { flex: 1; min-inline-size: 0; overflow: auto; background: var(--weft-surface); }
.timeline .toolbar { padding: 8px 12px; }
.timeline .toolbar [type="number"] { inline-size: 5em; }
.timeline [role="status"] { margin: 0; padding: 0 12px 6px; min-block-size: 26px; overflow-wrap: anywhere; }
.timeline [role="status"][data-bad] { color: var(--weft-bad); white-space: pre-wrap; }
.timeline-drawing { touch-action: pan-y; border-block: 1px solid var(--weft-line); }
.timeline-facts { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 4px 24px; padding: 8px 12px; }
.timeline-facts > section { min-inline-size: 0; }
.timeline h3 { margin-block: 8px 4px; }
.timeline .advice { margin: 0; padding-inline-start: 18px; }
.timeline .advice li { margin-block-end: 6px; }
.timeline .holders { list-style: none; margin: 0; padding: 0; }
.timeline .holders button { inline-size: 100%; text-align: start; border-color: transparent; padding: 1px 6px; min-block-size: 24px; overflow-wrap: anywhere; }
.timeline .kernels { overflow-x: auto; padding: 0 12px 12px; }
.timeline .kernels th, .timeline .kernels td { white-space: nowrap; }
.timeline .kernels td:nth-child(n + 2):nth-child(-n + 8), .timeline .kernels th:nth-child(n + 2):nth-child(-n + 8) { text-align: end; font-variant-numeric: tabular-nums; }
@container (max-width: 640px) {
  .timeline-facts { grid-template-columns: minmax(0, 1fr); }
}
`;

interface TimelinePanelEvents {
  /** A run is shown: milliseconds that a call of each kernel takes. */
  onTimes(times: ReadonlyMap<string, number>): void;
  /** An instruction was chosen. */
  onPlace(place: CodePlace): void;
  /** An instruction is to be seen in the graph. */
  onShowPlace(place: CodePlace): void;
  /** A kernel is to be seen in the graph. */
  onKernel(name: string): void;
}

const USUAL_RUNS = 5;
const MOST_HOLDERS = 5;

/** Records runs of a session and shows them over time: what took how long, why, and what helps. */
export class TimelinePanel {
  readonly #root: HTMLElement;
  readonly #events: TimelinePanelEvents;
  readonly #view: TimelineView;
  #choice = new InputChoice(undefined);
  #session: Session | undefined;
  #runCount = USUAL_RUNS;
  #timelines: RunTimelines | undefined;
  /** A run by its place; undefined: the medians of all. */
  #chosenRun: number | 'load' | undefined;
  #shown: RunTimeline | undefined;
  #selected: TimelineEvent | undefined;
  #status = '';
  #isBad = false;
  #isBusy = false;

  constructor(root: HTMLElement, events: TimelinePanelEvents) {
    this.#root = root;
    this.#events = events;
    this.#view = new TimelineView((event) => this.#select(event));
    adoptStyle(root, TIMELINE_STYLE);
  }

  /** Turns to another session; undefined: there is none to run. */
  show(session: Session | undefined, inputs: Inputs | undefined): void {
    this.#session = session;
    this.#choice = new InputChoice(inputs);
    this.#timelines = undefined;
    this.#shown = undefined;
    this.#say('');
  }

  #say(status: string, isBad = false): void {
    this.#status = status;
    this.#isBad = isBad;
    this.#render();
  }

  async #record(): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#isBusy) return;
    this.#isBusy = true;
    this.#say('Recording…');
    try {
      const runs = this.#runCount;
      const timelines = await session.timeline(this.#choice.inputs(session), { runs });
      this.#isBusy = false;
      if (this.#session !== session) return;
      this.#timelines = timelines;
      this.#choose(undefined);
    } catch (error) {
      this.#isBusy = false;
      if (this.#session === session) this.#say(describeError(error), true);
    }
  }

  /** Shows a run, the medians of all, or the load. */
  #choose(requested: number | 'load' | undefined): void {
    const { runs = [], load } = this.#timelines ?? {};
    const chosen = requested === undefined && runs.length === 1 ? 0 : requested;
    const run = chosen === undefined ? medianRun(runs) : chosen === 'load' ? load : runs[chosen];
    if (run === undefined) return;
    this.#chosenRun = chosen;
    this.#shown = run;
    this.#selected = undefined;
    this.#view.show(run);
    if (chosen === 'load') return this.#say(summary(run, true));
    const loads = kernelLoads(run, undefined);
    this.#events.onTimes(
      new Map(
        loads.map(({ kernel, calls, totalMs = 0 }) => [kernel, totalMs / Math.max(calls, 1)]),
      ),
    );
    this.#say(summary(run, false));
  }

  #select(event: TimelineEvent | undefined): void {
    this.#selected = event;
    if (event?.at !== undefined) this.#events.onPlace(event.at);
    const isLoad = this.#chosenRun === 'load';
    const text =
      event === undefined ? this.#shown && summary(this.#shown, isLoad) : describeEvent(event);
    this.#say(text ?? '');
  }

  #render(): void {
    render(this.#session === undefined ? NO_SESSION : this.#template(this.#session), this.#root);
  }

  #template(session: Session): TemplateResult {
    return html`<div class="timeline">
      <form
        class="toolbar"
        @submit=${(event: Event) => {
          event.preventDefault();
          void this.#record();
        }}
      >
        ${this.#choice.fields(session)}
        <label
          >Runs
          <input
            type="number"
            min="1"
            max=${MOST_TIMELINE_RUNS}
            .value=${String(this.#runCount)}
            @change=${(event: Event) => this.#count(event.target as HTMLInputElement)}
        /></label>
        <button ?disabled=${this.#isBusy}>
          ${this.#choice.isRandom ? 'Record on random input' : 'Record'}
        </button>
        ${this.#shown === undefined ? nothing : this.#tools()}
      </form>
      <p role="status" ?data-bad=${this.#isBad}>${this.#status}</p>
      ${this.#shown === undefined ? nothing : this.#found(this.#shown)}
    </div>`;
  }

  #count(input: HTMLInputElement): void {
    this.#runCount = Math.min(Math.max(Math.round(Number(input.value)), 1), MOST_TIMELINE_RUNS);
    input.value = String(this.#runCount);
  }

  #tools(): TemplateResult {
    const { runs = [], load } = this.#timelines ?? {};
    const isChoice = runs.length > 1 || load !== undefined;
    return html`${isChoice ? this.#runChoice(runs, load) : nothing}
      <button type="button" aria-label="Zoom in" @click=${() => this.#view.zoom(2)}>+</button>
      <button type="button" aria-label="Zoom out" @click=${() => this.#view.zoom(0.5)}>−</button>
      <button type="button" @click=${() => this.#view.fit()}>All</button>
      <button type="button" @click=${() => this.#export()}>Export trace</button>`;
  }

  #runChoice(runs: readonly RunTimeline[], load: RunTimeline | undefined): TemplateResult {
    const choose = ({ target }: Event): void => {
      const { value } = target as HTMLSelectElement;
      this.#choose(value === '' ? undefined : value === 'load' ? value : Number(value));
    };
    const medians = html`<option value="" ?selected=${this.#chosenRun === undefined}>
      medians of ${formatCount(runs.length, 'run')}
    </option>`;
    return html`<label
      >Show
      <select @change=${choose}>
        ${runs.length > 1 ? medians : nothing}
        ${runs.map(
          ({ totalMs }, i) => html`<option value=${i} ?selected=${this.#chosenRun === i}>
            run ${i + 1}, ${formatMs(totalMs)}
          </option>`,
        )}
        ${
          load === undefined
            ? nothing
            : html`<option value="load" ?selected=${this.#chosenRun === 'load'}>
                the load, ${formatMs(load.totalMs)}
              </option>`
        }
      </select></label
    >`;
  }

  #found(run: RunTimeline): TemplateResult {
    const { runs = [], rates, device = 'host' } = this.#timelines ?? {};
    const label = `Timeline of ${formatMs(run.totalMs)}: ${formatCount(run.events.length, 'event')}`;
    this.#view.canvas.setAttribute('aria-label', label);
    this.#view.canvas.setAttribute('aria-description', HELP);
    if (this.#chosenRun === 'load') {
      return html`${this.#view.canvas}
        <div class="timeline-facts">
          <section aria-label="Chosen event">
            ${this.#selected === undefined ? nothing : eventDetails(this.#selected, (event) => this.#show(event))}
          </section>
        </div>`;
    }
    const advice = runAdvice(run, { rates, device });
    return html`${this.#view.canvas}
      <div class="timeline-facts">
        <section aria-label="What takes the time">
          <h3>What takes the time</h3>
          ${
            advice.length === 0
              ? html`<p>Nothing takes much of it: kernels, launches and waiting are in balance.</p>`
              : html`<ul class="advice">
                  ${advice.map(
                    ({ kind, reason, remedy }) =>
                      html`<li><strong>${kind}</strong>: ${reason} ${remedy}</li>`,
                  )}
                </ul>`
          }
        </section>
        <section aria-label="Chosen event and memory">
          ${this.#selected === undefined ? nothing : eventDetails(this.#selected, (event) => this.#show(event))}
          ${this.#peak(run)}
        </section>
      </div>
      ${kernelTable({ run, runs, rates, onKernel: (name) => this.#events.onKernel(name) })}`;
  }

  #peak({ storages }: RunTimeline): TemplateResult | typeof nothing {
    const peak = peakOf(storages);
    if (peak === undefined) return nothing;
    const { bytes, atMs, holders } = peak;
    return html`<h3>Most memory: ${formatBytes(bytes)} at ${formatMs(atMs)}</h3>
      <ul class="holders">
        ${holders.slice(0, MOST_HOLDERS).map(
          (held) => html`<li>
            <button
              type="button"
              ?disabled=${held.at === undefined}
              @click=${() => held.at && this.#events.onShowPlace(held.at)}
            >
              ${formatBytes(held.bytes)}, ${held.name ?? 'input'}
            </button>
          </li>`,
        )}
      </ul>
      ${holders.length > MOST_HOLDERS ? html`<p class="facts">and ${holders.length - MOST_HOLDERS} more</p>` : nothing}`;
  }

  #show({ kind, name, at }: TimelineEvent): void {
    if (at !== undefined) this.#events.onShowPlace(at);
    else if (kind === 'kernel') this.#events.onKernel(name);
  }

  #export(): void {
    const trace = chromeTrace(this.#timelines ?? { runs: [] }, this.#session?.device.name ?? '');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([trace], { type: 'application/json' }));
    link.download = 'weft-trace.json';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

const HELP =
  'Arrow keys go from event to event and from row to row. With Shift they move the drawing. Plus and minus zoom, 0 shows all.';

function summary(
  { totalMs, instructions, instructionsLeftOut, events }: RunTimeline,
  isLoad: boolean,
): string {
  if (isLoad) return `Loaded in ${formatMs(totalMs)}: ${formatCount(events.length, 'event')}.`;
  const kernels = events.filter(({ isKernelCall }) => isKernelCall === true).length;
  const left =
    instructionsLeftOut === 0
      ? ''
      : ` The last ${formatCount(instructionsLeftOut, 'instruction')} are not shown.`;
  return `${formatCount(instructions, 'instruction')} and ${formatCount(kernels, 'kernel')} in ${formatMs(totalMs)}.${left}`;
}

function describeEvent({ kind, name, beginMs, endMs, bytes }: TimelineEvent): string {
  const size = bytes === undefined ? '' : `, ${formatBytes(bytes)}`;
  return `${name}, ${kind}${size}, ${formatMs(endMs - beginMs)} from ${formatMs(beginMs)} on.`;
}

/** A view of all that is known of an event. */
function eventDetails(
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

/**
 * A run whose times are the medians of several. Events of a kind that come in another order, or not in all runs, are those of the run
 * of median length, as pipelines that only the first run compiles.
 */
export function medianRun(runs: readonly RunTimeline[]): RunTimeline | undefined {
  const totalMs = median(runs.map((run) => run.totalMs));
  const middle = runs.find((run) => run.totalMs === totalMs);
  if (middle === undefined) return undefined;
  const events = LANE_TITLES.flatMap(([kind]) => medianOfKind(runs, middle, kind));
  const [first] = runs;
  const isAlike = runs.every(({ storages }) => storages.length === first?.storages.length);
  const storages = isAlike ? medians(runs.map((run) => run.storages)) : middle.storages;
  return {
    ...middle,
    events: events.toSorted((a, b) => a.beginMs - b.beginMs),
    storages,
  };
}

function medianOfKind(
  runs: readonly RunTimeline[],
  middle: RunTimeline,
  kind: TimelineKind,
): readonly TimelineEvent[] {
  const own = eventsOfKind(middle, kind);
  const all = runs.map((run) => eventsOfKind(run, kind));
  const isAlike = all.every(
    (events) =>
      events.length === own.length && events.every(({ name }, i) => name === own[i]?.name),
  );
  return isAlike ? medians([own, ...all.filter((_, i) => runs[i] !== middle)]) : own;
}

/**
 * The first of the lists with the medians of begins and of ends, place by place: what comes one behind the other in all runs does so
 * in their medians.
 */
function medians<T extends Interval>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = []] = lists;
  return first.map((event, i) => {
    const same = lists.map((list) => list[i] ?? event);
    const [begins, ends] = [same.map(({ beginMs }) => beginMs), same.map(({ endMs }) => endMs)];
    return { ...event, beginMs: median(begins), endMs: median(ends) };
  });
}
