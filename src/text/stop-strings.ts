/** Lets text pass until one of some strings comes; what may be the begin of one waits. */
export class StopStrings {
  readonly #strings: readonly string[];
  #held = '';
  /** True once one of the strings was found. */
  isStopped = false;

  constructor(strings: readonly string[]) {
    this.#strings = strings.filter((text) => text !== '');
  }

  /** The text that may be shown now. */
  push(text: string): string {
    if (this.isStopped) return '';
    const all = this.#held + text;
    const places = this.#strings.map((stop) => all.indexOf(stop)).filter((at) => at >= 0);
    if (places.length > 0) {
      this.isStopped = true;
      this.#held = '';
      return all.slice(0, Math.min(...places));
    }
    const held = Math.max(0, ...this.#strings.map((stop) => beginAtEnd(all, stop)));
    this.#held = all.slice(all.length - held);
    return all.slice(0, all.length - held);
  }

  /** The text that was held back as the possible begin of a stop string. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** How much of the end of a text is the begin of another one. */
function beginAtEnd(text: string, other: string): number {
  for (let length = Math.min(text.length, other.length - 1); length > 0; length--) {
    if (other.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
