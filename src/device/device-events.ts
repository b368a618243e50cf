import type { Compilation, DeviceEvent, ObservedEvents } from './device.ts';

/** Tells observers of a device of what it does beside launches. */
export class DeviceEvents implements ObservedEvents {
  readonly observers = new Set<(event: DeviceEvent) => void>();
  declare readonly latest?: readonly Compilation[];
  readonly #name: string;

  /** `name` is that of the device. */
  constructor(name: string) {
    this.#name = name;
  }

  /** The time now, where somebody wants to know. */
  get begin(): number {
    return this.observers.size && performance.now();
  }

  /** So many bytes were moved, which began then and is over now. */
  moved(
    kind: DeviceEvent['kind'],
    ranges: readonly { readonly byteLength: number }[],
    beginMs: number,
  ): void {
    if (this.observers.size === 0) return;
    const bytes = ranges.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.tell({ kind, name: this.#name, bytes, beginMs, endMs: performance.now() });
  }

  tell(event: DeviceEvent): void {
    for (const observer of this.observers) observer(event);
  }
}

/** Compilations that a device remembers; older ones go. */
export const MOST_COMPILATIONS = 1000;

/** Events of a device that compiles: also its latest compilations, at most {@link MOST_COMPILATIONS}, with their times. */
export class CompilationLog extends DeviceEvents {
  override readonly latest: Compilation[] = [];

  /** Notes down what began then and is over now. */
  add(label: string, beginMs: number): void {
    const endMs = performance.now();
    if (this.latest.push({ label, beginMs, endMs }) > MOST_COMPILATIONS) this.latest.shift();
    this.tell({ kind: 'compile', name: label, beginMs, endMs });
  }
}
