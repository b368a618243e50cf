/** Where a command writes. Tests give their own. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether `err` is a terminal, on which a line can be rewritten. */
  readonly isInteractive: boolean;
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isInteractive: process.stderr.isTTY,
};

/** A line that is rewritten as work goes on; nothing where that is not possible. */
export class ProgressLine {
  readonly #terminal: Terminal;
  #isShown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(text: string): void {
    if (!this.#terminal.isInteractive) return;
    this.#isShown = true;
    this.#terminal.err(`\r\u001b[K${text}`);
  }

  /** Leaves an empty line for what comes next. */
  clear(): void {
    if (this.#isShown) this.#terminal.err('\r\u001b[K');
    this.#isShown = false;
  }
}
