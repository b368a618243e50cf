import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { Inputs } from '../../client/values/input-value.ts';
import type { Profile, Session } from '../../client/session.ts';
import type { SessionComparison } from '../../client/tools/compare-session.ts';
import { describeError, formatBytes, formatCount, formatMs } from '../../core/format-quantity.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { SessionMemory } from '../../worker/protocol/session-memory.ts';
import { InputChoice } from './input-choice.ts';
import { NO_SESSION } from '../view/no-session.ts';
import { kernelTimes } from './kernel-times.ts';

interface RunPanelEvents {
  onProfile(profile: Profile): void;
  onComparison(comparison: SessionComparison): void;
  /** An instruction was chosen. */
  onPlace(place: CodePlace): void;
  onKernel(name: string): void;
}

/** Runs a session on inputs of its page or on random ones: times of kernels, memory, and a comparison of devices. */
export class RunPanel {
  readonly #root: HTMLElement;
  readonly #events: RunPanelEvents;
  #choice = new InputChoice(undefined);
  #session: Session | undefined;
  #profile: Profile | undefined;
  #memory: SessionMemory | undefined;
  #comparison: SessionComparison | undefined;
  #status = '';
  #isBusy = false;

  constructor(root: HTMLElement, events: RunPanelEvents) {
    this.#root = root;
    this.#events = events;
  }

  /** Turns to another session; undefined: there is none to run. */
  show(session: Session | undefined, inputs: Inputs | undefined): void {
    this.#session = session;
    this.#choice = new InputChoice(inputs);
    this.#profile = undefined;
    this.#memory = undefined;
    this.#comparison = undefined;
    this.#status = '';
    this.#render();
  }

  async #do(status: string, work: (session: Session) => Promise<string>): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#isBusy) return;
    this.#isBusy = true;
    this.#status = status;
    this.#render();
    let said: string;
    try {
      said = await work(session);
    } catch (error) {
      said = describeError(error);
    }
    this.#isBusy = false;
    if (this.#session === session) this.#status = said;
    this.#render();
  }

  #run(): Promise<void> {
    return this.#do('Running…', async (session) => {
      // The first run compiles what is missing.
      await session.run(this.#choice.inputs(session));
      const profile = await session.profile(this.#choice.inputs(session));
      const memory = await session.memory();
      if (this.#session !== session) return '';
      this.#profile = profile;
      this.#memory = memory;
      this.#events.onProfile(profile);
      return `${formatCount(profile.kernels.length, 'kernel')} launched in ${formatMs(profile.totalMs)}.`;
    });
  }

  #compare(against: 'host' | 'wasm'): Promise<void> {
    return this.#do(`Comparing with ${against}…`, async (session) => {
      const comparison = await session.compare(this.#choice.inputs(session), { against });
      if (this.#session !== session) return '';
      this.#comparison = comparison;
      this.#events.onComparison(comparison);
      const { departure, calls } = comparison;
      return departure === undefined
        ? `No value departs, in ${formatCount(calls, 'call')} of kernels.`
        : `${departure.kernel} departs.`;
    });
  }

  #render(): void {
    render(this.#session === undefined ? NO_SESSION : this.#template(this.#session), this.#root);
  }

  #template(session: Session): TemplateResult {
    return html`<div class="run">
      <form
        class="toolbar"
        @submit=${(event: Event) => {
          event.preventDefault();
          void this.#run();
        }}
      >
        ${this.#choice.fields(session)}
        <button ?disabled=${this.#isBusy}>
          ${this.#choice.isRandom ? 'Run on random input' : 'Run'}
        </button>
        <button type="button" ?disabled=${this.#isBusy} @click=${() => void this.#compare('host')}>
          Compare with the host
        </button>
        <button type="button" ?disabled=${this.#isBusy} @click=${() => void this.#compare('wasm')}>
          Compare with WebAssembly
        </button>
      </form>
      <p role="status">${this.#status}</p>
      ${this.#departure()} ${this.#times()} ${this.#memoryTable()}
    </div>`;
  }

  #departure(): TemplateResult | typeof nothing {
    const { departure } = this.#comparison ?? {};
    if (departure === undefined) return nothing;
    const { at, kernel, sources, relativeError } = departure;
    return html`<h3>The first value that departs</h3>
      <dl>
        <dt>kernel</dt>
        <dd>${kernel}</dd>
        <dt>nodes</dt>
        <dd>${sources.join(', ') || 'unknown'}</dd>
        <dt>error</dt>
        <dd>${relativeError.toPrecision(3)} of the largest element</dd>
      </dl>
      ${
        at === undefined
          ? nothing
          : html`<button type="button" @click=${() => this.#events.onPlace(at)}>Show it</button>`
      }`;
  }

  #times(): TemplateResult | typeof nothing {
    const profile = this.#profile;
    if (profile === undefined) return nothing;
    const all = kernelTimes(profile.kernels);
    const most = Math.max(...all.map(({ totalMs = 0 }) => totalMs), 1e-9);
    return html`<h3>Kernels</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Kernel</th>
            <th scope="col">Launches</th>
            <th scope="col">Time</th>
            <th scope="col">Beside the longest</th>
          </tr>
        </thead>
        <tbody>
          ${all.map(
            ({ kernel, launches, totalMs }) => html`<tr>
              <td>
                <button type="button" @click=${() => this.#events.onKernel(kernel)}>
                  ${kernel}
                </button>
              </td>
              <td>${launches}</td>
              <td>${formatMs(totalMs)}</td>
              <td><meter min="0" max="1" .value=${(totalMs ?? 0) / most} aria-label=${kernel}></meter></td>
            </tr>`,
          )}
        </tbody>
      </table>`;
  }

  #memoryTable(): TemplateResult | typeof nothing {
    const memory = this.#memory;
    if (memory === undefined) return nothing;
    const rows = [
      ['constants', memory.constantBytes],
      ['tensors in use', memory.liveBytes],
      ['free, kept for the next run', memory.pooledBytes],
      ['temporary memory of kernels', memory.scratchBytes],
      ['at the peak, all of it', memory.peakBytes],
    ] as const;
    return html`<h3>Memory</h3>
      <dl>
        ${rows.map(
          ([name, bytes]) => html`<dt>${name}</dt>
            <dd>${formatBytes(bytes)}</dd>`,
        )}
      </dl>`;
  }
}
