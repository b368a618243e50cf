import type { KernelProfile, Profile, Session, SessionDevice } from '../client/index.ts';
import type { WatchedModel } from '../inspector/index.ts';
import { byId, element, showFacts } from './element.ts';
import { describeDevice } from './open-session.ts';
import { describeError, formatBytes, formatCount, formatMs } from '../core/format-quantity.ts';

/** All launches of one primitive function in a run. */
interface KernelRow {
  readonly primitive: string;
  readonly launches: number;
  readonly durationMs: number | undefined;
}

/** Rows that are shown at once: those that take the most time. */
const SHOWN_KERNELS = 5;
/** Instructions that only say when a value is no longer needed. */
const BOOKKEEPING = /vm\.builtin\.kill\(/;

/** Beside every section: memory, where the time of the last run went, and the bytecode for those who ask. */
export class MachineView {
  readonly #title = byId('machine-title', HTMLElement);
  readonly #facts = byId('machine-facts', HTMLElement);
  readonly #kernels = byId('machine-kernels', HTMLElement);
  readonly #others = byId('machine-others', HTMLDetailsElement);
  readonly #bytecode = byId('machine-bytecode', HTMLDetailsElement);
  readonly #listing = byId('machine-listing', HTMLElement);
  readonly #inside = byId('machine-inside', HTMLButtonElement);
  #session: Session | undefined;
  #compiledFrom: WatchedModel | undefined;
  #profile: Profile | undefined;

  constructor() {
    this.#bytecode.addEventListener('toggle', () => void this.#showListing());
    this.#inside.addEventListener('click', () => void this.#lookInside());
  }

  /** Turns to another session, with what its program was compiled from here; nothing of the one before stays. */
  async show(
    session: Session | undefined,
    title: string,
    compiledFrom?: WatchedModel,
  ): Promise<void> {
    if (session === this.#session && session !== undefined) return;
    this.#session = session;
    this.#compiledFrom = compiledFrom;
    this.#profile = undefined;
    this.#title.textContent = title;
    this.#showKernels([]);
    showFacts(this.#facts, []);
    this.#bytecode.open = false;
    this.#inside.disabled = session === undefined;
    if (session !== undefined) await this.#refreshFacts(session);
  }

  /** The launches of a profiled run of the shown session. */
  async showProfile(session: Session, profile: Profile): Promise<void> {
    if (session !== this.#session) return;
    this.#profile = profile;
    this.#showKernels(kernelRows(profile.kernels));
    await this.#refreshFacts(session);
  }

  async #refreshFacts(session: Session): Promise<void> {
    const { constantBytes, liveBytes, peakBytes } = await session.memory();
    if (session !== this.#session) return;
    const profile = this.#profile;
    showFacts(this.#facts, [
      ['Runs on', runsOn(session.device)],
      ...(profile === undefined
        ? []
        : [
            [
              'Last run',
              `${formatCount(profile.instructions, 'instruction')}, ${formatCount(profile.kernels.length, 'kernel')}, ${formatMs(profile.totalMs)}`,
            ] as const,
          ]),
      [
        'Memory',
        `${formatBytes(constantBytes)} constants, ${formatBytes(liveBytes)} live, ${formatBytes(peakBytes)} peak`,
      ],
    ]);
  }

  #showKernels(rows: readonly KernelRow[]): void {
    const longest = Math.max(0, ...rows.map(({ durationMs }) => durationMs ?? 0));
    const lines = rows.map(({ primitive, launches, durationMs }) => {
      const share = element('span', { class: 'share' });
      share.style.transform = `scaleX(${longest === 0 ? 0 : (durationMs ?? 0) / longest})`;
      const times = launches === 1 ? '' : ` ×${launches}`;
      return element(
        'li',
        {},
        element('code', {}, primitive),
        element('span', { class: 'kernel-time' }, `${formatMs(durationMs)}${times}`),
        share,
      );
    });
    if (lines.length === 0) lines.push(element('li', {}, 'The next run that is timed shows them.'));
    this.#kernels.replaceChildren(...lines.slice(0, SHOWN_KERNELS));
    const others = lines.slice(SHOWN_KERNELS);
    this.#others.hidden = others.length === 0;
    const summary = element(
      'summary',
      {},
      `${formatCount(others.length, 'kernel')} that took less`,
    );
    this.#others.replaceChildren(summary, element('ol', { class: 'kernels' }, ...others));
  }

  async #lookInside(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    const { openInspector } = await import('./inspector-dialog.ts');
    const title = this.#title.textContent ?? '';
    await openInspector({ session, title, compiledFrom: this.#compiledFrom });
  }

  async #showListing(): Promise<void> {
    const session = this.#session;
    if (!this.#bytecode.open || session === undefined) return;
    try {
      const lines = (await session.listing()).trimEnd().split('\n');
      if (session !== this.#session) return;
      const shown = lines.filter((line) => !BOOKKEEPING.test(line));
      const left = lines.length - shown.length;
      const note = left === 0 ? '' : `; ${formatCount(left, 'line')} of bookkeeping left out\n\n`;
      this.#listing.textContent = note + shown.join('\n');
    } catch (error) {
      this.#listing.textContent = describeError(error);
    }
  }
}

function runsOn(device: SessionDevice): string {
  const { title } = describeDevice(device);
  return device.kind === 'webgpu' ? `WebGPU: ${title}` : `${title} (CPU)`;
}

/** Those that took the most time first. */
function kernelRows(kernels: readonly KernelProfile[]): KernelRow[] {
  const rows = new Map<string, KernelRow>();
  for (const { primitive, durationMs } of kernels) {
    const known = rows.get(primitive);
    rows.set(primitive, {
      primitive,
      launches: (known?.launches ?? 0) + 1,
      durationMs: sum(known?.durationMs, durationMs),
    });
  }
  return [...rows.values()].sort((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0));
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
