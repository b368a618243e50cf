import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Dims } from '../../worker/protocol/dispatch-sizes.ts';
import type { RemoteHistory } from '../../client/tools/pass-history.ts';
import { describeError, formatCount, formatMs } from '../../core/format-quantity.ts';
import type { PassLine } from '../../core/contracts/pass-step.ts';
import { LineList } from '../view/line-list.ts';

/** Bytes of an ONNX model, or a program in text form. */
type ModelSource = Uint8Array | ArrayBuffer | string;

/** The source of a program, to compile it once more with the passes watched. */
export interface WatchedModel {
  /** It, or what gets it when it is asked for. */
  readonly model: ModelSource | (() => Promise<ModelSource>);
  /** Numbers for symbolic dimensions. */
  readonly dims?: Dims | undefined;
  /** The name of a text in places. */
  readonly file?: string | undefined;
  /** The address of a model, beside which files with its tensors lie. */
  readonly url?: string | undefined;
}

/** The passes of the compiler with what each of them changed. It compiles when that is asked for, in a worker of its own. */
export class PassesPanel {
  readonly #root: HTMLElement;
  readonly #onPlace: (place: string) => void;
  readonly #passes = new LineList('Passes', (step) => void this.#choose(step));
  readonly #text = new LineList('Program', (line) => this.#chooseLine(line));
  #model: WatchedModel | undefined;
  #history: RemoteHistory | undefined;
  #isWhole = false;
  #step = 0;
  #lines: readonly PassLine[] = [];
  #chosenPlaces: readonly string[] = [];
  #status = '';
  #isBusy = false;

  /** `onPlace` is called for a line's place in the source, as `formatPlace` writes it. */
  constructor(root: HTMLElement, onPlace: (place: string) => void) {
    this.#root = root;
    this.#onPlace = onPlace;
  }

  /** Turns to another model; undefined: the program was compiled elsewhere. */
  show(model: WatchedModel | undefined): void {
    this.close();
    this.#model = model;
    this.#status = '';
    this.#lines = [];
    this.#render();
  }

  /** Marks the lines that come from places of the source. */
  select(places: readonly string[]): void {
    this.#chosenPlaces = places;
    this.#mark();
  }

  /** Ends the worker that compiles. */
  close(): void {
    this.#history?.close();
    this.#history = undefined;
  }

  async #compile(): Promise<void> {
    const watched = this.#model;
    if (watched === undefined || this.#isBusy) return;
    this.#isBusy = true;
    this.#say('Compiling…');
    try {
      const { RemoteHistory } = await import('../../client/tools/pass-history.ts');
      const { model, ...options } = watched;
      const source = typeof model === 'function' ? await model() : model;
      const bytes = source instanceof ArrayBuffer ? new Uint8Array(source) : source;
      const history = await RemoteHistory.open(bytes, {
        ...options,
        onProgress: (done, total) => this.#say(`Compiling: ${done} of ${total} passes`),
      });
      if (this.#model !== watched) return history.close();
      this.#history = history;
      this.#render();
      this.#passes.show(
        history.steps.map(({ pass, milliseconds, isChanged }, i) => ({
          text: pass,
          note: i === 0 ? undefined : formatMs(milliseconds),
          isMinor: !isChanged,
        })),
      );
      const first = history.steps.findIndex(({ isChanged }, i) => i > 0 && isChanged);
      this.#passes.mark(new Set([Math.max(0, first)]));
      await this.#choose(Math.max(0, first));
    } catch (error) {
      if (this.#model === watched) this.#say(describeError(error));
    } finally {
      this.#isBusy = false;
      this.#render();
    }
  }

  async #choose(step: number): Promise<void> {
    const history = this.#history;
    if (history === undefined) return;
    this.#step = step;
    const isWhole = this.#isWhole || step === 0;
    const lines = await history.lines(step, isWhole);
    if (this.#history !== history || this.#step !== step) return;
    this.#lines = lines;
    // Lines without a sign stand where those with one do.
    const indent = isWhole ? '' : '  ';
    this.#text.show(
      lines.map(({ text, sign }) => (sign ? { text, sign } : { text: indent + text })),
    );
    this.#mark();
    this.#say(describeLines(lines, isWhole));
  }

  #chooseLine(line: number): void {
    const place = this.#lines[line]?.place;
    if (place !== undefined) this.#onPlace(place);
  }

  #mark(): void {
    const places = new Set(this.#chosenPlaces);
    const lines = [...this.#lines.entries()].filter(([, { place = '' }]) => places.has(place));
    this.#text.mark(new Set(lines.map(([line]) => line)));
  }

  #setWhole(isWhole: boolean): void {
    this.#isWhole = isWhole;
    void this.#choose(this.#step);
  }

  #say(status: string): void {
    this.#status = status;
    this.#render();
  }

  #render(): void {
    render(this.#template(), this.#root);
  }

  #template(): TemplateResult {
    if (this.#model === undefined) return NO_MODEL;
    const hasPasses = this.#history !== undefined;
    return html`<div class="passes">
      <div class="toolbar">
        <button type="button" ?disabled=${this.#isBusy} @click=${() => void this.#again()}>
          ${hasPasses ? 'Compile again' : 'Compile and watch'}
        </button>
        ${hasPasses ? [this.#mode('Difference', false), this.#mode('Whole program', true)] : nothing}
        <span class="facts" role="status">${this.#status}</span>
      </div>
      <div class="columns" ?hidden=${!hasPasses}>${this.#passes.root}${this.#text.root}</div>
    </div>`;
  }

  #again(): Promise<void> {
    this.close();
    return this.#compile();
  }

  #mode(name: string, isWhole: boolean): TemplateResult {
    return html`<button
      type="button"
      aria-pressed=${this.#isWhole === isWhole}
      @click=${() => this.#setWhole(isWhole)}
    >
      ${name}
    </button>`;
  }
}

function describeLines(lines: readonly PassLine[], isWhole: boolean): string {
  if (isWhole) return formatCount(lines.length, 'line');
  const count = (wanted: string): number => lines.filter(({ sign }) => sign === wanted).length;
  const [added, taken] = [count('+'), count('-')];
  return added + taken === 0 ? 'It changed nothing.' : `${added} lines added, ${taken} taken away`;
}

const NO_MODEL = html`<p class="message">
  There is no source to compile again: this program came as an executable.
</p>`;
