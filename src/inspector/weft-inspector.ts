import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { CodePlace } from '../core/contracts/paused-call.ts';
import { describeError, formatBytes, formatCount } from '../core/format-quantity.ts';
import { formatPlace } from '../core/contracts/source-place.ts';
import { CodePanel } from './code/code-panel.ts';
import type { Tint } from './graph/draw-graph.ts';
import { GraphPanel } from './graph/graph-panel.ts';
import { KernelSourceView } from './kernel/kernel-source-view.ts';
import type { MemoryPanel } from './memory/memory-panel.ts';
import { sizesOfInputs } from './memory/sizes-of-inputs.ts';
import type { PassesPanel } from './passes/passes-panel.ts';
import { type StartedService, startService } from './program/start-service.ts';
import type { ProgramSummary } from './program/program-service.ts';
import { type InspectorTarget, readTarget } from './read-target.ts';
import type { KernelTimes } from './run/kernel-times.ts';
import { StepTab, LateTab, type SessionPanel } from './step/step-tab.ts';
import { once } from '../core/once.ts';
import { STYLE } from './view/style-sheet.ts';

/** Where there are no elements, as in Node, the module can be imported all the same. */
const Base = globalThis.HTMLElement ?? (Object as unknown as typeof HTMLElement);

const TABS = [
  ['graph', 'Graph'],
  ['code', 'Code'],
  ['passes', 'Passes'],
  ['memory', 'Memory'],
  ['run', 'Run'],
  ['timeline', 'Timeline'],
  ['step', 'Step'],
] as const;
type Tab = (typeof TABS)[number][0];

const styleSheet = once((): CSSStyleSheet => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  return sheet;
});

/**
 * An element that shows a program from the inside. {@link defineInspector} makes it known to the page as
 * `<weft-inspector>`. It takes the size that its page gives it, by default 640 pixels in height, and follows the
 * page's colour scheme.
 */
export class WeftInspector extends Base {
  #root: ShadowRoot | undefined;
  #started: StartedService | undefined;
  #graph: GraphPanel | undefined;
  #code: CodePanel | undefined;
  #kernelSource: KernelSourceView | undefined;
  /** These two load when their tab is opened first. */
  #passes: PassesPanel | undefined;
  #memory: MemoryPanel | undefined;
  /** The target and the function that these two tabs show; undefined until they load anew. */
  #passesOf: InspectorTarget | undefined;
  #memoryOf: string | undefined;
  readonly #run = new LateTab((root) => this.#loadRun(root));
  readonly #timeline = new LateTab((root) => this.#loadTimeline(root));
  readonly #step = new StepTab({ onPlace: (place) => void this.#mark(place) });
  #tab: Tab = 'graph';
  #target: InspectorTarget = {};
  #summary: ProgramSummary | undefined;
  #function = 'main';
  #message: { readonly text: string; readonly isError: boolean } | undefined = {
    text: 'No program.',
    isError: false,
  };

  /**
   * Shows a session or an executable, in place of what was shown before. Resolves when its graph is drawn. Rejects,
   * and says so in its place, with FormatError or VerifyError for bytes that are no executable, with UsageError for a
   * session that was disposed of and for a target with neither.
   */
  async show(target: InspectorTarget): Promise<void> {
    this.#target = target;
    this.#say('Reading the program…');
    try {
      const head = await readTarget(target);
      const { service } = (this.#started ??= startService());
      const summary = await service.open(head);
      if (this.#target !== target) return;
      this.#summary = summary;
      const [first = 'main'] = summary.functions;
      const wanted = target.function ?? first;
      await this.#showFunction(wanted);
      for (const view of this.#kernelSources()) view.use(target.session);
      for (const tab of [this.#run, this.#timeline, this.#step]) tab.show(target);
    } catch (error) {
      if (this.#target === target) this.#say(describeError(error), true);
      throw error;
    }
  }

  /** @internal For measurements: what the last frame of the graph drew, and the time that its layout took. */
  get graph(): GraphPanel | undefined {
    return this.#graph;
  }

  /** @internal */
  connectedCallback(): void {
    this.#render();
    // Taken out of the page it has lost its worker; a failure is shown in its place.
    const isBack = this.#summary !== undefined && this.#started === undefined;
    if (isBack) this.show(this.#target).catch(() => undefined);
  }

  /** Stops the worker of an element that was taken out of its page. `show` starts another one. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      // An element that is moved within a page is taken out and put in.
      if (this.isConnected) return;
      this.#started?.stop();
      this.#started = undefined;
      this.#passes?.close();
      this.#passesOf = undefined;
      this.#step.close();
    });
  }

  async #showFunction(name: string): Promise<void> {
    const { service } = (this.#started ??= startService());
    this.#function = name;
    this.#message = undefined;
    this.#render();
    this.#graph ??= new GraphPanel(this.#place('graph'), {
      onSelect: (node) => {
        this.#code?.select(node?.instruction);
        this.#passes?.select(node?.places.map(formatPlace) ?? []);
        this.#memory?.select(node?.instruction);
      },
      detailsOf: ({ kind, name }) => {
        this.#kernelSource?.show(kind === 'kernel' ? name : undefined);
        return kind === 'kernel' ? this.#kernelSource?.root : undefined;
      },
    });
    this.#code ??= new CodePanel(this.#place('code'), (instruction) =>
      this.#graph?.selectInstruction(instruction),
    );
    const [code] = await Promise.all([service.code(name), this.#graph.show(service, name)]);
    this.#code.show(code);
    this.#step.showCode(name, code);
    this.#memoryOf = undefined;
    await this.#load(this.#tab);
  }

  async #load(tab: Tab): Promise<void> {
    if (tab === 'memory') await this.#showMemory();
    if (tab === 'passes') await this.#showPasses();
    if (tab === 'run') await this.#run.open(this.#place('run'));
    if (tab === 'timeline') await this.#timeline.open(this.#place('timeline'));
    if (tab === 'step') await this.#step.open(this.#place('step'));
  }

  async #showMemory(): Promise<void> {
    const { service } = this.#started ?? {};
    if (service === undefined || this.#memoryOf === this.#function) return;
    this.#memoryOf = this.#function;
    const { session, inputs = {} } = this.#target;
    const { MemoryPanel } = await import('./memory/memory-panel.ts');
    this.#memory ??= new MemoryPanel(this.#place('memory'), {
      onInstruction: (instruction) => this.#graph?.selectInstruction(instruction),
      nodeAt: (instruction) => this.#graph?.nodes.find((node) => node.instruction === instruction),
    });
    this.#memory.use(sizesOfInputs(session?.inputs ?? [], inputs));
    await this.#memory.show(service, this.#function);
  }

  #kernelSources(): readonly KernelSourceView[] {
    this.#kernelSource ??= new KernelSourceView();
    return [this.#kernelSource, ...(this.#code === undefined ? [] : [this.#code.kernelSource])];
  }

  /** A line of a program between passes is chosen with the instructions that come from the same place. */
  async #showPasses(): Promise<void> {
    const { PassesPanel } = await import('./passes/passes-panel.ts');
    this.#passes ??= new PassesPanel(this.#place('passes'), (place) =>
      this.#code?.selectSource(place),
    );
    if (this.#passesOf === this.#target) return;
    this.#passesOf = this.#target;
    this.#passes.show(this.#target.compiledFrom);
  }

  /** Marks an instruction in all views, of which none comes to the front. */
  async #mark({ function: name, instruction }: CodePlace): Promise<void> {
    try {
      if (name !== this.#function) await this.#showFunction(name);
      this.#graph?.selectInstruction(instruction);
      this.#code?.select(instruction);
    } catch (error) {
      this.#say(describeError(error), true);
    }
  }

  async #loadTimeline(root: HTMLElement): Promise<SessionPanel> {
    const { TimelinePanel } = await import('./timeline/timeline-panel.ts');
    return new TimelinePanel(root, {
      onTimes: (times) => this.#tintTimes(times),
      onPlace: (place) => void this.#mark(place),
      onShowPlace: (place) => this.#goTo(place),
      onKernel: (name) => this.#chooseKernel(name),
    });
  }

  async #loadRun(root: HTMLElement): Promise<SessionPanel> {
    const [{ RunPanel }, { kernelTimes }] = await Promise.all([
      import('./run/run-panel.ts'),
      import('./run/kernel-times.ts'),
    ]);
    return new RunPanel(root, {
      onProfile: ({ kernels }) => {
        for (const view of this.#kernelSources()) view.refresh();
        this.#tintTimes(
          new Map(kernelTimes(kernels).map((each) => [each.kernel, perLaunch(each)])),
        );
      },
      onComparison: ({ departure }) => {
        const at = departure?.at;
        this.#tintKernels((_, instruction) => {
          if (departure === undefined) return { colour: 'good', amount: 1 };
          if (at === undefined || at.function !== this.#function || instruction > at.instruction)
            return undefined;
          return { colour: instruction === at.instruction ? 'bad' : 'good', amount: 1 };
        });
      },
      onPlace: (place) => this.#goTo(place),
      onKernel: (name) => this.#chooseKernel(name),
    });
  }

  #chooseKernel(name: string): void {
    const node = this.#graph?.nodes.find((each) => each.kind === 'kernel' && each.name === name);
    this.#choose(node?.instruction);
  }

  #goTo(place: CodePlace): void {
    this.#showPlace(place).catch((error: unknown) => this.#say(describeError(error), true));
  }

  /** Colours kernels by the milliseconds of a call. */
  #tintTimes(times: ReadonlyMap<string, number>): void {
    const most = Math.max(...times.values(), 1e-9);
    this.#tintKernels((name) => {
      const time = times.get(name);
      return time === undefined ? undefined : { colour: 'heat', amount: time / most };
    });
  }

  #tintKernels(tintOf: (kernel: string, instruction: number) => Tint | undefined): void {
    const tints = new Map<number, Tint>();
    for (const [number, { kind, name, instruction }] of (this.#graph?.nodes ?? []).entries()) {
      if (kind !== 'kernel' || instruction === undefined) continue;
      const tint = tintOf(name, instruction);
      if (tint !== undefined) tints.set(number, tint);
    }
    this.#graph?.tint(tints);
  }

  async #showPlace({ function: name, instruction }: CodePlace): Promise<void> {
    if (name !== this.#function) await this.#showFunction(name);
    this.#choose(instruction);
  }

  /** Chooses an instruction in the graph, which comes to the front. */
  #choose(instruction: number | undefined): void {
    this.#open('graph');
    this.#graph?.selectInstruction(instruction);
    this.#code?.select(instruction);
  }

  #open(tab: Tab): void {
    this.#tab = tab;
    this.#render();
    this.#load(tab).catch((error: unknown) => this.#say(describeError(error), true));
  }

  #place(id: string): HTMLElement {
    const found = this.#root?.getElementById(id);
    if (found instanceof HTMLElement) return found;
    throw new Error(`internal: the inspector has no part ${id}`);
  }

  #say(text: string, isError = false): void {
    this.#message = { text, isError };
    this.#render();
  }

  #render(): void {
    if (this.#root === undefined) {
      this.#root = this.attachShadow({ mode: 'open' });
      this.#root.adoptedStyleSheets = [styleSheet()];
    }
    render(this.#view(), this.#root);
  }

  #view(): TemplateResult {
    const { title = this.title || 'Program' } = this.#target;
    const message = this.#message;
    return html`<div class="inspector">
      <header>
        <h2>${title}</h2>
        <span class="facts">${this.#facts()}</span>
        ${this.#functionChoice()}
        <div class="tabs" role="tablist" aria-label="Views" @keydown=${(event: KeyboardEvent) => this.#tabKey(event)}>
          ${TABS.map(
            ([tab, name]) => html`<button
              type="button"
              role="tab"
              id=${`tab-${tab}`}
              aria-controls=${tab}
              aria-selected=${tab === this.#tab}
              tabindex=${tab === this.#tab ? 0 : -1}
              @click=${() => this.#open(tab)}
            >
              ${name}
            </button>`,
          )}
        </div>
      </header>
      ${TABS.map(
        ([tab]) => html`<div
          id=${tab}
          class="panel"
          role="tabpanel"
          aria-labelledby=${`tab-${tab}`}
          ?hidden=${message !== undefined || tab !== this.#tab}
        ></div>`,
      )}
      ${
        message === undefined
          ? nothing
          : html`<p class="message" role="status" data-kind=${message.isError ? 'error' : 'progress'}>
              ${message.text}
            </p>`
      }
    </div>`;
  }

  /** Arrow keys go from tab to tab. */
  #tabKey({ key }: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const at = TABS.findIndex(([tab]) => tab === this.#tab);
    const [tab] = TABS[(at + step + TABS.length) % TABS.length] ?? TABS[0];
    this.#open(tab);
    this.#place(`tab-${tab}`).focus();
  }

  #facts(): string {
    const { session } = this.#target;
    if (this.#summary === undefined) return '';
    const { kernelCount, constantBytes } = this.#summary;
    const where = session === undefined ? 'not running' : `on ${session.device.name}`;
    return `${formatCount(kernelCount, 'kernel')}, ${formatBytes(constantBytes)} of constants, ${where}`;
  }

  #functionChoice(): TemplateResult | typeof nothing {
    const { functions = [] } = this.#summary ?? {};
    if (functions.length < 2) return nothing;
    const choose = (event: Event): void => {
      void this.#showFunction((event.target as HTMLSelectElement).value).catch((error: unknown) =>
        this.#say(describeError(error), true),
      );
    };
    return html`<label
      >Function
      <select @change=${choose}>
        ${functions.map(
          (name) =>
            html`<option value=${name} ?selected=${name === this.#function}>${name}</option>`,
        )}
      </select></label
    >`;
  }
}

const perLaunch = ({ launches, totalMs = 0 }: KernelTimes): number => totalMs / launches;

/** Makes the inspector known to the page under a name, by default `weft-inspector`. Idempotent. */
export function defineInspector(name = 'weft-inspector'): void {
  if (customElements.get(name) === undefined) {
    customElements.define(name, class extends WeftInspector {});
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'weft-inspector': WeftInspector;
  }
}
