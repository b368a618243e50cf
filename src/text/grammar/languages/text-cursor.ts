import { CompileLimitError, ParseError, UnsupportedError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';

/** Groups inside each other, in a grammar or a regular expression, or schemas in a schema. */
export const MAX_NESTING = 100;

/** Letters of a grammar or a regular expression. */
const MAX_LENGTH = 200_000;
/** Steps for each of them. */
const WORK = 20;

/** A place in a text that is being parsed. */
export class TextCursor {
  /** The offset in UTF-16 units. */
  at = 0;
  #depth = 0;
  readonly #text: string;
  readonly #where: string;

  /** @param where Names the text in errors. Throws CompileLimitError for a text of more than 200,000 letters. */
  constructor(text: string, where: string) {
    if (text.length > MAX_LENGTH) {
      const [got, expected] = [`${text.length} letters`, `at most ${MAX_LENGTH}`];
      throw new CompileLimitError({ where, got, expected, remedy: 'Write a shorter one.' });
    }
    countWork(WORK * text.length);
    this.#text = text;
    this.#where = where;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** The next character, a whole code point, or '' at the end. */
  peek(): string {
    const codePoint = this.#text.codePointAt(this.at);
    return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
  }

  /** Steps over the next character and returns it. Throws ParseError at the end. */
  next(expected: string): string {
    const character = this.peek();
    if (character === '') throw this.error(expected);
    this.at += character.length;
    return character;
  }

  /** Steps over a text if it is next. */
  take(text: string): boolean {
    const isNext = this.#text.startsWith(text, this.at);
    if (isNext) this.at += text.length;
    return isNext;
  }

  /** Steps over a text, or throws ParseError. */
  expect(text: string): void {
    if (!this.take(text)) throw this.error(`"${text}"`);
  }

  /** Steps over what a sticky pattern matches here. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match;
  }

  /** Parses what is inside a group. Throws ParseError where groups are too deep inside each other. */
  nested<T>(parse: () => T): T {
    if (this.#depth === MAX_NESTING) {
      throw this.error(`at most ${MAX_NESTING} groups inside each other`, 'one more');
    }
    this.#depth++;
    const result = parse();
    this.#depth--;
    return result;
  }

  error(expected: string, got = this.#describe(), at = this.at): ParseError {
    const { where, details } = this.#place(at);
    return new ParseError({ where, got, expected }, { details });
  }

  unsupported(got: string, expected: string, at: number): UnsupportedError {
    const { where, details } = this.#place(at);
    return new UnsupportedError({ where, got, expected }, { details });
  }

  #describe(): string {
    return this.isAtEnd ? 'the end' : JSON.stringify(this.peek());
  }

  #place(at: number) {
    const lines = this.#text.slice(0, at).split('\n');
    const line = lines.length;
    const column = (lines.at(-1)?.length ?? 0) + 1;
    return { where: `${this.#where}:${line}:${column}`, details: { line, column } };
  }
}
