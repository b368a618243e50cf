import type { Terminal } from '../terminal.ts';

export interface CommandParts {
  readonly terminal: Terminal;
  /** Resolves once the command is over; its number becomes the exit status. */
  readonly run: (command: Promise<number>) => Promise<void>;
}
