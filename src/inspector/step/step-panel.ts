import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { DebugPlace } from '../../client/tools/debug-session.ts';
import type { Inputs } from '../../client/values/input-value.ts';
import type { Session } from '../../client/session.ts';
import { describeError, formatCount } from '../../core/format-quantity.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { FunctionCode } from '../program/function-code.ts';
import { InputChoice } from '../run/input-choice.ts';
import { adoptStyle } from '../view/adopt-style.ts';
import { LineList } from '../view/line-list.ts';
import { NO_SESSION } from '../view/no-session.ts';
import { BreakpointChoice, describeBreakpoint } from './breakpoint-choice.ts';
import { placeView, registersView } from './place-view.ts';
import {
  commandOf,
  STEP_COMMANDS,
  type StepCommand,
  type ChosenValue,
  type SeenState,
  SteppedRun,
} from './stepped-run.ts';
import { drawPicture } from './value-view.ts';
import type { Breakpoint } from '../../worker/protocol/debug-order.ts';

const NAN: Breakpoint = { output: 'nan' };
const INFINITY: Breakpoint = { output: 'infinity' };

/**
 * Fields for conditions on outputs and for names of nodes, and a list of all breakpoints at
 * instructions.
 */
function breakpointView(choice: BreakpointChoice, onChange: () => void): TemplateResult {
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

/** The style of the view *Step*, beside that of the inspector. */
const STEP_STYLE = /* css */ `
.step { flex: 1; min-inline-size: 0; display: flex; flex-direction: column; background: var(--weft-surface); }
.step > * { flex: none; }
.step .toolbar { padding: 8px 12px 0; }
.step button[aria-disabled="true"] { color: var(--weft-muted); border-color: var(--weft-line); cursor: default; }
.step [role="status"] { margin: 0; padding: 6px 12px; min-block-size: 32px; overflow-wrap: anywhere; }
.step [role="status"][data-bad] { color: var(--weft-bad); white-space: pre-wrap; max-block-size: 8em; overflow: auto; }
.step > .step-columns { flex: 1; min-block-size: 0; display: grid; grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr) minmax(0, 1fr); gap: 1px; background: var(--weft-line); border-block-start: 1px solid var(--weft-line); }
.step-columns > section { min-block-size: 0; overflow: auto; padding: 10px 12px; background: var(--weft-surface); }
.step-columns > .step-code { display: flex; padding: 0; }
.step-columns h4 { margin: 12px 0 4px; font-size: 13px; font-weight: normal; color: var(--weft-muted); }
.line-margin { display: inline-block; inline-size: 18px; block-size: 19px; margin-inline: -12px 4px; vertical-align: top; background: radial-gradient(circle at 50% 50%, transparent 5px, transparent 0); }
.line-margin:hover { background: radial-gradient(circle at 50% 50%, var(--weft-line) 5px, transparent 5.5px); }
.line-margin[data-marked] { background: radial-gradient(circle at 50% 50%, var(--weft-bad) 5px, transparent 5.5px); }
.step .frames, .step .registers, .step .breakpoints, .step .storages { list-style: none; margin: 4px 0 0; padding: 0; }
.step .frames button, .step .registers button { inline-size: 100%; text-align: start; border-color: transparent; padding: 1px 6px; min-block-size: 24px; overflow-wrap: anywhere; }
.step .frames button[aria-pressed="true"], .step .registers button[aria-pressed="true"] { background: var(--weft-accent-soft); color: var(--weft-ink); border-color: var(--weft-accent); }
.step .sources { display: block; color: var(--weft-muted); font-size: 12px; }
.step .breakpoints { display: flex; flex-wrap: wrap; gap: 4px; padding: 6px 12px 0; }
.step .breakpoints:empty { display: none; }
.step .conditions { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; padding: 6px 12px 0; }
.step .conditions input[type="checkbox"] { min-block-size: 0; }
.step .conditions input[type="number"] { inline-size: 6em; }
.step .history { display: flex; gap: 8px; align-items: center; }
.step .history input { inline-size: 160px; padding: 0; accent-color: var(--weft-accent); }
.step dd[data-bad] { color: var(--weft-bad); font-weight: bold; }
.histogram { display: block; inline-size: 100%; block-size: 60px; margin-block: 6px; background: var(--weft-sunken); }
.histogram rect { fill: var(--weft-accent); }
.picture { inline-size: auto; block-size: auto; min-inline-size: 96px; max-inline-size: 100%; margin-block: 6px; cursor: default; touch-action: auto; image-rendering: pixelated; border: 1px solid var(--weft-line); }
.elements { overflow: auto; }
.elements td { text-align: end; padding: 0 10px 0 0; }
.slots { display: flex; flex-wrap: wrap; gap: 2px; list-style: none; margin: 0; padding: 0; }
.slots li { min-inline-size: 28px; padding: 2px 6px; text-align: center; background: var(--weft-sunken); border: 1px solid var(--weft-line); }
.step .storages li { margin-block-end: 6px; font-size: 13px; }
.storage { display: block; inline-size: 100%; block-size: 14px; }
.storage-all { fill: var(--weft-sunken); stroke: var(--weft-line); vector-effect: non-scaling-stroke; }
.storage-tensor { fill: var(--weft-accent); }
@container (max-width: 640px) {
  .step { overflow: auto; }
  .step .toolbar { position: sticky; inset-block-start: 0; z-index: 1; padding-block-end: 6px; background: var(--weft-surface); }
  .step > .step-columns { flex: none; grid-template-columns: minmax(0, 1fr); }
  .step-columns > section { overflow: visible; }
  .step-columns > .step-code { block-size: 220px; }
}
`;

export interface StepPanelEvents {
  /** The run stands at an instruction, or a frame of it was chosen. */
  onPlace(place: CodePlace): void;
}

type Going = Exclude<StepCommand, 'pause' | 'stop'> | number;

/** Runs a session instruction by instruction: controls, bytecode with breakpoints, frames, registers and memory. */
export class StepPanel {
  readonly #root: HTMLElement;
  readonly #events: StepPanelEvents;
  readonly #lines: LineList;
  readonly #breakpoints = new BreakpointChoice();
  #choice = new InputChoice(undefined);
  #session: Session | undefined;
  #function = 'main';
  #run: SteppedRun | undefined;
  #seen: SeenState | undefined;
  #status = '';
  #isBad = false;
  #isBusy = false;

  constructor(root: HTMLElement, events: StepPanelEvents) {
    this.#root = root;
    this.#events = events;
    this.#lines = new LineList('Bytecode', () => undefined, {
      label: 'breakpoint',
      onToggle: (instruction) => this.#toggle(instruction),
    });
    adoptStyle(root, STEP_STYLE);
    root.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Turns to another session; undefined: there is none to run. */
  show(session: Session | undefined, inputs: Inputs | undefined): void {
    void this.#run?.close();
    this.#run = undefined;
    this.#seen = undefined;
    this.#session = session;
    this.#choice = new InputChoice(inputs);
    this.#say('');
  }

  showCode(functionName: string, { lines }: FunctionCode): void {
    this.#function = functionName;
    this.#lines.show(lines);
    this.#markLines();
  }

  /** Ends the run. */
  close(): void {
    this.show(undefined, undefined);
  }

  #say(status: string, isBad = false): void {
    this.#status = status;
    this.#isBad = isBad;
    this.#render();
  }

  #key(event: KeyboardEvent): void {
    const command = commandOf(event);
    if (command === undefined || this.#session === undefined) return;
    // Also while it is busy: F5 would load the page again.
    event.preventDefault();
    this.#do(command);
  }

  #do(command: StepCommand): void {
    if (command === 'pause') void this.#run?.pause();
    else if (command === 'stop') this.#stop();
    else if (command !== 'stepBack' || this.#run !== undefined) void this.#go(command);
  }

  #stop(): void {
    const run = this.#run;
    this.#run = undefined;
    this.#seen = undefined;
    void run?.close();
    this.#markLines();
    this.#say(run === undefined ? '' : 'Stopped.');
  }

  /** Begins a run where there is none: it stands then, or with `continue` goes on at once. */
  async #go(going: Going): Promise<void> {
    await this.#work(async (session) => {
      const isNew = this.#run === undefined;
      this.#run ??= await SteppedRun.start(
        session,
        this.#choice.inputs(session),
        this.#breakpoints,
      );
      const run = this.#run;
      if (isNew) await run.setBreakpoints();
      if (!isNew || going === 'continue') await run.go(going);
      await this.#look(run, 0, this.#seen?.chosen);
    });
  }

  async #look(run: SteppedRun, frame: number, chosen: ChosenValue | undefined): Promise<void> {
    const seen = await run.look(frame, chosen);
    if (this.#run !== run) return;
    this.#seen = seen;
    const place = seen.place.frames[seen.frame];
    if (place !== undefined) this.#events.onPlace(place);
    this.#markLines();
    const { text, isBad } = describePlace(seen.place);
    this.#status = text;
    this.#isBad = isBad;
  }

  /** One thing at a time. An error is shown. */
  async #work(work: (session: Session) => Promise<void>): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#isBusy) return;
    this.#isBusy = true;
    this.#say(this.#run === undefined ? 'Starting…' : 'Running…');
    try {
      await work(session);
    } catch (error) {
      // The errors of a run that was stopped meanwhile are of no use.
      const isOver = this.#session !== session || this.#status === 'Stopped.';
      if (!isOver) [this.#status, this.#isBad] = [describeError(error), true];
    }
    this.#isBusy = false;
    this.#render();
  }

  #toggle(instruction: number): void {
    this.#breakpoints.toggle({ at: { function: this.#function, instruction } });
    this.#breakpointsChanged();
  }

  #breakpointsChanged(): void {
    this.#markBreakpoints();
    this.#render();
    const run = this.#run;
    run
      ?.setBreakpoints()
      .then(() => this.#markBreakpoints())
      .catch((error: unknown) => this.#say(describeError(error), true));
  }

  #markBreakpoints(): void {
    this.#lines.markMargin(this.#breakpoints.linesOf(this.#function));
  }

  /** Moves the list's own line too: not when only a breakpoint has changed. */
  #markLines(): void {
    this.#markBreakpoints();
    const { place, frame = 0 } = this.#seen ?? {};
    const at = place?.frames[frame];
    this.#lines.mark(new Set(at?.function === this.#function ? [at.instruction] : []));
  }

  #render(): void {
    render(this.#session === undefined ? NO_SESSION : this.#template(this.#session), this.#root);
    drawPicture(this.#root, this.#seen?.detail);
  }

  #template(session: Session): TemplateResult {
    const hasRun = this.#run !== undefined;
    return html`<div class="step">
      <div class="toolbar" role="toolbar" aria-label="Stepping">
        ${hasRun ? nothing : this.#choice.fields(session)}
        ${STEP_COMMANDS.map(({ command, name, key }) => this.#button(command, name, key))}
        ${hasRun ? this.#history() : nothing}
      </div>
      ${breakpointView(this.#breakpoints, () => this.#breakpointsChanged())}
      <p role="status" ?data-bad=${this.#isBad}>${this.#status || 'Not running.'}</p>
      <div class="step-columns">
        <section class="step-code">${this.#lines.root}</section>
        ${registersView(this.#seen, {
          onFrame: (frame) => this.#choose(frame, undefined),
          onValue: (chosen) => this.#choose(this.#seen?.frame ?? 0, chosen),
        })}
        ${placeView(this.#seen, (chosen) => this.#choose(this.#seen?.frame ?? 0, chosen))}
      </div>
    </div>`;
  }

  /** Never disabled, for a button would lose the focus then, and the view its keys. */
  #button(command: StepCommand, name: string, key: string): TemplateResult {
    const hasRun = this.#run !== undefined;
    const needsRun = command === 'stop' || command === 'pause' || command === 'stepBack';
    const isOff = (needsRun && !hasRun) || (command === 'pause' && !this.#isBusy);
    return html`<button
      type="button"
      aria-keyshortcuts=${key}
      aria-disabled=${isOff}
      title=${key}
      @click=${() => this.#do(command)}
    >
      ${command === 'continue' && !hasRun ? 'Run' : name}
    </button>`;
  }

  #history(): TemplateResult {
    const run = this.#run;
    return html`<label class="history"
      >After
      <input
        type="range"
        min="0"
        max=${Math.max(1, run?.furthest ?? 1)}
        .value=${String(run?.place.executed ?? 0)}
        @change=${(event: Event) => void this.#go(Number((event.target as HTMLInputElement).value))}
      />
      <span class="mono">${run?.place.executed ?? 0}</span></label
    >`;
  }

  #choose(frame: number, chosen: ChosenValue | undefined): void {
    const run = this.#run;
    if (run === undefined) return;
    void this.#work(() => this.#look(run, frame, chosen));
  }
}

function describePlace({ reason, executed, frames, found, error, depth }: DebugPlace) {
  const after = `after ${formatCount(executed, 'instruction')}`;
  const [top] = frames;
  switch (reason) {
    case 'end':
      return { text: `Ended ${after}.`, isBad: false };
    case 'error':
      return { text: `Failed ${after}: ${error ?? ''}`, isBad: true };
    case 'output': {
      const { kernel = '', sources = [], count = 0, element } = found ?? {};
      const of = sources.length === 0 ? kernel : `${kernel}, from ${sources.join(', ')}`;
      const text = `${of}: ${formatCount(count, 'element')} stopped the run, the first is element ${element}.`;
      return { text, isBad: true };
    }
    default: {
      const calls = depth === 1 ? '' : `, ${formatCount(depth, 'call')} deep`;
      const at = `before instruction ${top?.instruction} of ${top?.function}${calls}, ${after}`;
      return { text: `${WORDS[reason]} ${at}.`, isBad: false };
    }
  }
}

const WORDS = { step: 'Stands', breakpoint: 'At a breakpoint', pause: 'Paused' } as const;
