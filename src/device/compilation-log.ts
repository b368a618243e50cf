import type { Compilation } from './device.ts';

/** Compilations that a device remembers; older ones go. */
export const MOST_COMPILATIONS = 1000;

/** The latest compilations of a device, at most {@link MOST_COMPILATIONS}, with their times. */
export class CompilationLog {
  /** The compilations, in the order of their ends. */
  readonly latest: Compilation[] = [];

  /** Notes down what began then and is over now. */
  add(label: string, beginMs: number): void {
    const endMs = performance.now();
    if (this.latest.push({ label, beginMs, endMs }) > MOST_COMPILATIONS) this.latest.shift();
  }
}
