import { errorHelp } from '../core/error-help.ts';
import { errorToData, UsageError, WeftError } from '../core/errors.ts';
import { colored, type Terminal } from './terminal.ts';

/** One value as JSON. Tensors and other large things are not among what commands report. */
export function writeJson(terminal: Terminal, command: string, facts: object): void {
  const text = JSON.stringify({ command, ...facts }, plainNumber, 2);
  terminal.out(`${text}\n`);
}

/** JSON has no infinite numbers, and no bigints. */
function plainNumber(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** An error as an object on `out`. */
export function writeJsonError(terminal: Terminal, command: string, error: unknown): void {
  const { name, message, details } = errorToData(error);
  const facts =
    error instanceof WeftError ? { code: error.code, help: errorHelp(error) } : undefined;
  writeJson(terminal, command, { error: { name, ...facts, message, details } });
}

/** An error as the command reports it: a line on `err`, and with `--json` also an object on `out`. */
export function writeError(
  terminal: Terminal,
  error: unknown,
  { command, isJson }: { readonly command: string; readonly isJson: boolean },
): void {
  const isOurs = error instanceof WeftError;
  if (isJson) writeJsonError(terminal, command, error);
  terminal.err(`${colored(terminal, 'red', 'weft:')} ${describe(error)}\n`);
  if (isOurs && terminal.isInteractive && !(error instanceof UsageError)) {
    terminal.err(colored(terminal, 'dim', `${error.code}: ${errorHelp(error)}\n`));
  }
}

function describe(error: unknown): string {
  if (error instanceof WeftError) return error.message;
  // Not thrown on purpose: the stack belongs into the report.
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Writes a warning to `err`. */
export function warn(terminal: Terminal, message: string): void {
  terminal.err(`${colored(terminal, 'yellow', 'warning:')} ${message}\n`);
}
