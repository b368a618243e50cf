import { type Complaint, ParseError, shortValues } from '../../core/errors.ts';

/** A place in a text: an offset in UTF-16 units; line and column count from 1. */
interface Place {
  readonly start: number;
  readonly line: number;
  readonly column: number;
}

/** Errors of one text up to this many are reported together. */
const MAX_ERRORS = 20;
/** Longer source lines are cut around the column. */
const MAX_LINE_LENGTH = 120;

/** Collects the errors of one text. */
export class Diagnostics {
  readonly #text: string;
  readonly #file: string;
  readonly #errors: { place: Place; message: string }[] = [];

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  /** Throws ParseError with all that was reported when this is one too many. */
  report(place: Place, { got, expected, remedy }: Omit<Complaint, 'where'>): void {
    if (this.#errors.length === MAX_ERRORS) throw this.#error();
    const advice = remedy === undefined ? '' : ` ${remedy}`;
    const where = `${this.#file}:${place.line}:${place.column}`;
    const message = `${where}: got ${shortValues(got)}, expected ${expected}.${advice}`;
    this.#errors.push({ place, message: `${message}\n${excerptAt(this.#text, place)}` });
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw this.#error();
  }

  #error(): ParseError {
    const errors = this.#errors.toSorted((a, b) => a.place.start - b.place.start);
    const messages = errors.map(({ message }) => message);
    if (errors.length === MAX_ERRORS) {
      messages.push(`These are the first ${MAX_ERRORS} errors; there may be more.`);
    }
    return new ParseError(messages.join('\n\n'), {
      details: {
        file: this.#file,
        line: errors[0]?.place.line ?? 1,
        column: errors[0]?.place.column ?? 1,
        lines: errors.map(({ place }) => place.line),
        columns: errors.map(({ place }) => place.column),
      },
    });
  }
}

/** The line of a place with its number, and a caret under the column. */
export function excerptAt(text: string, { line, column }: Omit<Place, 'start'>): string {
  const whole = (text.split('\n', line).at(-1) ?? '').replace(/\r$/, '');
  const isLong = whole.length > MAX_LINE_LENGTH;
  const from = isLong ? Math.max(0, column - 1 - MAX_LINE_LENGTH / 2) : 0;
  const shown = whole.slice(from, isLong ? from + MAX_LINE_LENGTH : undefined);
  const before = from > 0 ? '…' : '';
  const after = from + shown.length < whole.length ? '…' : '';
  // Tabs stay tabs, so that the caret stands under the column however wide they are shown.
  const pad = `${before}${shown.slice(0, column - 1 - from)}`.replaceAll(/[^\t]/g, ' ');
  const number = String(line);
  return `${number} | ${before}${shown}${after}\n${' '.repeat(number.length)} | ${pad}^`;
}
