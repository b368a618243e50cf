import { ParseError } from '../../core/errors.ts';

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'sign' | 'end';
  /** As written; of a string the characters that it stands for. */
  readonly text: string;
  readonly start: number;
}

const BLANK = /(?:\s|#[^\n]*)*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_.$]*/y;
const NUMBER = /0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SIGN = /->|\/\/|[(){}[\],:=%@+\-*?']/y;

/** Cuts a listing into tokens as they are asked for. Comments go from `#` to the end of the line. */
export class TextLexer {
  readonly #source: string;
  readonly #ahead: Token[] = [];
  #position = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** A token ahead of the one that `next` gives; 0 is that one. */
  peek(distance = 0): Token {
    while (this.#ahead.length <= distance) this.#ahead.push(this.#scan());
    const token = this.#ahead[distance];
    if (token === undefined) throw new Error('internal: no token ahead');
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.#ahead.shift();
    return token;
  }

  /** Takes the next token if it is this sign or word. */
  accept(text: string): boolean {
    const token = this.peek();
    if (token.text !== text || token.kind === 'string' || token.kind === 'end') return false;
    this.next();
    return true;
  }

  /** Takes the next token, which must be this sign or word. */
  expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected(`"${text}"`);
  }

  /** A name, plain or quoted. */
  name(what: string): string {
    const token = this.peek();
    if (token.kind !== 'name' && token.kind !== 'string') throw this.unexpected(what);
    return this.next().text;
  }

  string(what: string): string {
    if (this.peek().kind !== 'string') throw this.unexpected(what);
    return this.next().text;
  }

  /** A number or `nan` or `inf` as written, perhaps with a minus sign. */
  numberText(what: string): string {
    const start = this.peek();
    const sign = this.accept('-') ? '-' : '';
    const token = this.peek();
    const isNumber = token.kind === 'number' || token.text === 'nan' || token.text === 'inf';
    if (!isNumber || token.kind === 'string') throw this.unexpected(what, start);
    return sign + this.next().text;
  }

  /** A safe integer; -0 becomes 0. */
  integer(what: string): number {
    const start = this.peek();
    const text = this.numberText(what);
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value)) throw this.unexpected(`${what}: a safe integer`, start);
    return value + 0;
  }

  /** Items between signs, with commas between them and perhaps after the last. */
  list<T>(open: string, close: string, item: () => T): T[] {
    const items: T[] = [];
    this.expect(open);
    while (!this.accept(close)) {
      items.push(item());
      if (this.accept(',')) continue;
      this.expect(close);
      break;
    }
    return items;
  }

  unexpected(expected: string, token = this.peek()): ParseError {
    return this.error({ got: describe(token), expected }, token.start);
  }

  /** An error that shows its line and a caret under the column. */
  error({ got, expected }: { got: string; expected: string }, start: number): ParseError {
    const before = this.#source.slice(0, start).split('\n');
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    const text = this.#source.split('\n', line).at(-1) ?? '';
    const number = String(line);
    const message = [
      `listing, line ${line}, column ${column}: got ${got}, expected ${expected}.`,
      `${number} | ${text}`,
      `${' '.repeat(number.length)} | ${' '.repeat(column - 1)}^`,
    ];
    return new ParseError(message.join('\n'), { details: { line, column } });
  }

  #scan(): Token {
    this.#match(BLANK);
    const start = this.#position;
    if (start >= this.#source.length) return { kind: 'end', text: '', start };
    if (this.#source[start] === '"') return { kind: 'string', text: this.#scanString(), start };
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: 'name', text: word, start };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'number', text: number, start };
    const sign = this.#match(SIGN);
    if (sign !== undefined) return { kind: 'sign', text: sign, start };
    const got = `the character ${JSON.stringify(this.#source[start])}`;
    throw this.error({ got, expected: 'a name, number, string or sign' }, start);
  }

  #scanString(): string {
    const start = this.#position;
    let end = start + 1;
    while (end < this.#source.length && this.#source[end] !== '"' && this.#source[end] !== '\n') {
      end += this.#source[end] === '\\' ? 2 : 1;
    }
    this.#position = Math.min(end + 1, this.#source.length);
    try {
      const value: unknown = JSON.parse(this.#source.slice(start, end + 1));
      if (typeof value === 'string') return value;
    } catch {
      // Reported below, with the place.
    }
    throw this.error({ got: 'a broken string', expected: 'a string as in JSON' }, start);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const text = pattern.exec(this.#source)?.[0];
    if (text !== undefined) this.#position += text.length;
    return text;
  }
}

function describe({ kind, text }: Token): string {
  if (kind === 'end') return 'the end of the text';
  return kind === 'string' ? `the string ${JSON.stringify(text)}` : `"${text}"`;
}
