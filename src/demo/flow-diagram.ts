import type { Profile, SessionDevice } from '../client/index.ts';
import { describeDevice } from './describe-device.ts';
import { formatCount, formatMs } from '../core/format-quantity.ts';
import { select, toggleData } from './element.ts';

/** One run as the diagram tells it. */
export interface RunSummary {
  /** From the page's call to the result in the page. */
  readonly roundTripMs: number;
  readonly profile?: Profile;
}

const ACTIVE_MS = 350;

/** The diagram beside the sections: page, worker, virtual machine, device, and what the last run did in each. */
export class FlowDiagram {
  readonly #root: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Forgets the run of another program. */
  clear(): void {
    this.#text('page', '[data-detail]', 'asks, and waits');
    this.#text('vm', '[data-detail]', 'interprets bytecode');
    this.#text('device', '[data-detail]', 'runs kernels');
  }

  /** Shows the device of a program that has not run yet. */
  showDevice(device: SessionDevice): void {
    const { title, detail } = describeDevice(device);
    const place = device.kind === 'webgpu' ? 'WebGPU' : 'CPU, in the worker';
    this.#text('device', '[data-place]', place);
    this.#text('device', '[data-name]', title);
    this.clear();
    this.#text('device', '[data-detail]', detail);
  }

  showRun({ roundTripMs, profile }: RunSummary): void {
    this.#text('page', '[data-detail]', `round trip ${formatMs(roundTripMs)}`);
    if (profile !== undefined) {
      const { instructions, kernels } = profile;
      this.#text('vm', '[data-detail]', formatCount(instructions, 'instruction'));
      // Undefined where the adapter has no timestamps.
      const times = kernels.flatMap(({ durationMs }) => durationMs ?? []);
      const time = times.length === 0 ? '' : `, ${formatMs(times.reduce((a, b) => a + b))}`;
      this.#text('device', '[data-detail]', `${formatCount(kernels.length, 'kernel')}${time}`);
    }
    this.#pulse();
  }

  #pulse(): void {
    clearTimeout(this.#timer);
    toggleData(this.#root, 'active', true);
    this.#timer = setTimeout(() => toggleData(this.#root, 'active', false), ACTIVE_MS);
  }

  #text(node: string, selector: string, text: string): void {
    select(this.#root, `[data-node="${node}"] ${selector}`).textContent = text;
  }
}
