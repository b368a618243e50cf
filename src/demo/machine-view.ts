import type { KernelProfile, Profile, Session, SessionDevice } from '../client/index.ts';
import { describeDevice } from './describe-device.ts';
import { element, toggleData } from './element.ts';
import { describeError, formatBytes, formatCount, formatMs } from './format-quantity.ts';
import { ListingView, type PrimitiveTime } from './listing-view.ts';

/** All launches of one shader for one primitive function in a run. */
interface KernelRow {
  readonly primitive: string;
  readonly label: string;
  /** Undefined on the host, which has none. */
  readonly workgroups: string | undefined;
  readonly launches: number;
  readonly durationMs: number | undefined;
}

/** Beside every section: device, memory, kernels of the last run, and the executable's text. */
export class MachineView {
  readonly #title = element('span', {}, 'loading');
  readonly #facts = element('dl', { class: 'facts' });
  readonly #kernelCaption = element('h3', {}, 'Kernels of the last run');
  readonly #kernels = element('tbody');
  readonly #listing = new ListingView();
  #session: Session | undefined;
  #selected: string | undefined;
  #profile: Profile | undefined;

  constructor(root: HTMLElement) {
    const heading = element('h2', {}, 'What the machine did');
    const head = element('div', { class: 'machine-head' }, heading, this.#title);
    const columns = ['Kernel', 'Shader, workgroups', 'Runs', 'Time'].map((text, index) =>
      element('th', { scope: 'col', class: index > 1 && 'number' }, text),
    );
    const table = element(
      'table',
      { class: 'kernels' },
      element('thead', {}, element('tr', {}, ...columns)),
      this.#kernels,
    );
    const scroll = element('div', { class: 'scroll' }, table);
    const listing = element('h3', {}, 'The executable');
    root.append(head, this.#facts, this.#kernelCaption, scroll, listing, this.#listing.root);
  }

  /** Turns to another session; nothing of the one before stays. */
  async show(session: Session | undefined, title: string): Promise<void> {
    if (session === this.#session && session !== undefined) return;
    this.#session = session;
    this.#profile = undefined;
    this.#title.textContent = title;
    this.#showKernels([]);
    this.#listing.show('');
    this.#showFacts([]);
    if (session === undefined) return;
    try {
      const text = await session.listing();
      if (this.#session !== session) return;
      this.#listing.show(text);
      await this.#refreshFacts(session);
    } catch (error) {
      if (this.#session === session) this.#listing.show(describeError(error));
    }
  }

  /** The launches of a profiled run of the shown session. */
  async showProfile(session: Session, profile: Profile): Promise<void> {
    if (session !== this.#session) return;
    this.#profile = profile;
    const rows = kernelRows(profile.kernels, session.device.kind);
    this.#showKernels(rows);
    this.#listing.mark(primitiveTimes(profile.kernels));
    await this.#refreshFacts(session);
  }

  async #refreshFacts(session: Session): Promise<void> {
    const memory = await session.memory();
    if (session !== this.#session) return;
    const { device } = session;
    const profile = this.#profile;
    const run =
      profile === undefined
        ? 'none yet'
        : `${formatCount(profile.instructions, 'instruction')}, ${formatCount(profile.kernels.length, 'kernel')}, ${formatMs(profile.totalMs)}`;
    this.#showFacts([
      ['Runs on', runsOn(device)],
      ['VM', 'bytecode interpreter in a Web Worker'],
      ['Last run', run],
      [
        'Memory',
        `${formatBytes(memory.constantBytes)} constants, ${formatBytes(memory.liveBytes)} live, ` +
          `${formatBytes(memory.pooledBytes)} pooled, ${formatBytes(memory.peakBytes)} peak`,
      ],
    ]);
  }

  #showFacts(facts: readonly (readonly [string, string])[]): void {
    this.#facts.replaceChildren(
      ...facts.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {}, text)]),
    );
  }

  #showKernels(rows: readonly KernelRow[]): void {
    const longest = Math.max(0, ...rows.map(({ durationMs }) => durationMs ?? 0));
    this.#kernels.replaceChildren(
      ...rows.map((row) => {
        const share = element('span', { class: 'share' });
        const part = longest === 0 ? 0 : (row.durationMs ?? 0) / longest;
        share.style.transform = `scaleX(${part})`;
        const name = element('code', {}, row.primitive);
        const line = element(
          'tr',
          {},
          element('td', {}, name, share),
          element('td', {}, [row.label, row.workgroups ?? ''].join(' ')),
          element('td', { class: 'number' }, String(row.launches)),
          element('td', { class: 'number' }, formatMs(row.durationMs)),
        );
        line.addEventListener('pointerenter', () => this.#select(row.primitive));
        line.addEventListener('pointerleave', () => this.#select(undefined));
        toggleData(line, 'selected', row.primitive === this.#selected);
        return line;
      }),
    );
    if (rows.length === 0) {
      this.#kernels.append(element('tr', {}, element('td', { colspan: 4 }, 'No run yet.')));
    }
  }

  #select(primitive: string | undefined): void {
    this.#selected = primitive;
    this.#listing.select(primitive);
  }
}

function runsOn(device: SessionDevice): string {
  const { title } = describeDevice(device);
  return device.kind === 'webgpu' ? `WebGPU: ${title}` : `${title} (CPU)`;
}

function kernelRows(kernels: readonly KernelProfile[], device: SessionDevice['kind']): KernelRow[] {
  const rows = new Map<string, KernelRow>();
  for (const { primitive, label, workgroups, durationMs } of kernels) {
    const key = `${primitive}/${label}`;
    const known = rows.get(key);
    rows.set(key, {
      primitive,
      label,
      workgroups: device === 'webgpu' ? describeWorkgroups(workgroups) : undefined,
      launches: (known?.launches ?? 0) + 1,
      durationMs: sum(known?.durationMs, durationMs),
    });
  }
  return [...rows.values()];
}

function describeWorkgroups([x, y, z]: KernelProfile['workgroups']): string {
  const isFlat = z === 1;
  return (isFlat && y === 1 ? [x] : isFlat ? [x, y] : [x, y, z]).join('×');
}

function primitiveTimes(kernels: readonly KernelProfile[]): Map<string, PrimitiveTime> {
  const times = new Map<string, PrimitiveTime>();
  for (const { primitive, durationMs } of kernels) {
    const known = times.get(primitive);
    times.set(primitive, {
      launches: (known?.launches ?? 0) + 1,
      durationMs: sum(known?.durationMs, durationMs),
    });
  }
  return times;
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

/** Time of all kernels of a run; undefined where the adapter has no timestamps. */
export function kernelTime(kernels: readonly KernelProfile[]): number | undefined {
  return kernels.reduce<number | undefined>(
    (total, { durationMs }) => sum(total, durationMs),
    undefined,
  );
}
