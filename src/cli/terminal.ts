/** Where a command writes. Tests give their own. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** True if `err` is a terminal, on which a line can be rewritten. */
  readonly isInteractive: boolean;
  /** True if `err` shows colours: a terminal, without `NO_COLOR`. Default false. */
  readonly hasColors?: boolean;
  /** Characters in a line of `out` where that is a terminal; undefined elsewhere. */
  readonly columns?: number | undefined;
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isInteractive: process.stderr.isTTY,
  // `hasColors` heeds NO_COLOR and FORCE_COLOR.
  hasColors: process.stderr.isTTY && process.stderr.hasColors(),
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : undefined;
  },
};

/** Ends the process without an error when nobody reads its output any more, as `head` does not. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
      throw error;
    });
  }
}

const STYLES = { red: 31, yellow: 33, dim: 2 } as const;

/** A word of a message in a colour, where there are colours. */
export function colored({ hasColors }: Terminal, style: keyof typeof STYLES, text: string): string {
  return hasColors === true ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}

/** Progress is shown from here on. */
const DELAY_MS = 1000;

/** A line that is rewritten as work goes on, once it has taken a second; nothing where that is not possible. */
export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #startMs = performance.now();
  #isShown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(text: string): void {
    if (!this.#terminal.isInteractive || performance.now() - this.#startMs < DELAY_MS) return;
    this.#isShown = true;
    this.#terminal.err(`\r\u001b[K${text}`);
  }

  /** Leaves an empty line for what comes next. */
  clear(): void {
    if (this.#isShown) this.#terminal.err('\r\u001b[K');
    this.#isShown = false;
  }
}
