import { requireKind } from '../../../core/check-options.ts';
import type { Diagnostics } from '../diagnostics.ts';

export interface Token {
  /**
   * `variable` is `%x`, `global` is `@f`, `int` is `#3` or `#0.5`, `projection` is `.0`; `number` has its
   * suffix, as in `1f`.
   */
  readonly kind:
    | 'name'
    | 'variable'
    | 'global'
    | 'number'
    | 'int'
    | 'projection'
    | 'string'
    | 'sign'
    | 'end';
  /** Without the `%`, `@`, `#`, `.` or quotes of its kind. */
  readonly text: string;
  readonly start: number;
  /** The line of the token from 1, and its column from 1. */
  readonly line: number;
  readonly column: number;
}

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;
/** A name among dimensions, where there are no projections. */
const DIMENSION = /[A-Za-z_][A-Za-z0-9_.]*/y;
const DIGITS = /[0-9]+/y;
const NUMBER = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_]*/y;
const INT = /#-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf|nan)/y;
const PROJECTION = /\.[0-9]+/y;
const SIGN = /->|=>|[(){}[\],:;=<>+\-*?%]/y;
const BLANK = /\s+|\/\*[^]*?\*\//y;
/** Around strings that are as they stand. */
export const RAW_QUOTE = '"""';

const LINE_COMMENT = /\/\/[^\n]*/y;
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Returns true if a name can stand in a text without quotes. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/** Cuts a text into tokens; the last is of kind `end`. Reports what is none and goes on after it. */
export function tokenize(text: string, diagnostics: Diagnostics): Token[] {
  return new Lexer(text, diagnostics).run();
}

class Lexer {
  readonly #text: string;
  readonly #diagnostics: Diagnostics;
  readonly #tokens: Token[] = [];
  #position = 0;
  #line = 1;
  #lineStart = 0;
  /** The first line end that was not counted; -1: none. */
  #newline: number;
  /** Open brackets since the one of a tensor type or attribute; 0 outside. There `//` divides. */
  #dimsDepth = 0;

  constructor(text: string, diagnostics: Diagnostics) {
    requireKind('text of a program', 'text', ['text that is', text]);
    this.#text = text;
    this.#diagnostics = diagnostics;
    this.#newline = text.indexOf('\n');
  }

  run(): Token[] {
    for (;;) {
      this.#skipBlank();
      const start = this.#position;
      const token = this.#scan(start);
      if (token !== undefined) {
        this.#tokens.push(token);
        this.#followDims(token);
        if (token.kind === 'end') return this.#tokens;
      }
      this.#countLines();
    }
  }

  #skipBlank(): void {
    for (;;) {
      const isBlank =
        this.#match(BLANK) !== undefined ||
        (this.#dimsDepth === 0 && this.#match(LINE_COMMENT) !== undefined);
      if (!isBlank) return;
      this.#countLines();
    }
  }

  #scan(start: number): Token | undefined {
    const char = this.#text[start];
    if (char === undefined) return this.#token('end', '', start);
    if (this.#text.startsWith(RAW_QUOTE, start)) return this.#rawString(start);
    if (char === '"') return this.#string('string', start);
    if (this.#dimsDepth > 0 && this.#text.startsWith('//', start)) {
      this.#position += 2;
      return this.#token('sign', '//', start);
    }
    if (char === '%' || char === '@') {
      const sigil = this.#sigil(char === '%' ? 'variable' : 'global', start);
      if (sigil !== undefined) return sigil;
    }
    const word = this.#match(this.#dimsDepth > 0 ? DIMENSION : IDENTIFIER);
    if (word !== undefined) return this.#token('name', word, start);
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#token('number', number, start);
    const int = this.#match(INT);
    if (int !== undefined) return this.#token('int', int.slice(1), start);
    const projection = this.#match(PROJECTION);
    if (projection !== undefined) return this.#token('projection', projection.slice(1), start);
    const sign = this.#match(SIGN);
    if (sign !== undefined) return this.#token('sign', sign, start);
    return this.#unknown(start);
  }

  #unknown(start: number): undefined {
    const isComment = this.#text.startsWith('/*', start);
    const char = String.fromCodePoint(this.#text.codePointAt(start) ?? 0);
    this.#position = isComment ? this.#text.length : start + char.length;
    this.#diagnostics.report(this.#token('sign', '', start), {
      got: isComment ? 'a comment without an end' : `the character ${JSON.stringify(char)}`,
      expected: isComment ? '*/' : 'a name, number, string or sign',
    });
    return undefined;
  }

  /** `%name`, `%0`, `%"any name"`; undefined for a bare `%`, which is the remainder. */
  #sigil(kind: 'variable' | 'global', start: number): Token | undefined {
    this.#position = start + 1;
    if (this.#text[this.#position] === '"') return this.#string(kind, start);
    const name = this.#match(IDENTIFIER) ?? this.#match(DIGITS);
    if (name !== undefined) return this.#token(kind, name, start);
    this.#position = start;
    return undefined;
  }

  /** The text between triple quotes, as it is. */
  #rawString(start: number): Token {
    const open = start + RAW_QUOTE.length;
    const end = this.#text.indexOf(RAW_QUOTE, open);
    this.#position = end < 0 ? this.#text.length : end + RAW_QUOTE.length;
    const token = this.#token('string', this.#text.slice(open, end < 0 ? undefined : end), start);
    if (end < 0) {
      const got = 'a string without an end';
      this.#diagnostics.report(token, { got, expected: RAW_QUOTE });
    }
    return token;
  }

  /** A string as in JSON, on one line. */
  #string(kind: 'string' | 'variable' | 'global', start: number): Token | undefined {
    const open = this.#position;
    let end = open + 1;
    for (let char = this.#text[end]; char !== undefined; char = this.#text[end]) {
      if (char === '"' || char === '\n') break;
      end += char === '\\' ? 2 : 1;
    }
    this.#position = Math.min(end + 1, this.#text.length);
    const value = parseString(this.#text.slice(open, end + 1));
    if (value !== undefined) return this.#token(kind, value, start);
    this.#diagnostics.report(this.#token('string', '', start), {
      got: 'a broken string',
      expected: 'a string as in JSON',
    });
    // An empty string keeps the parser in step.
    return this.#token(kind, '', start);
  }

  #token(kind: Token['kind'], text: string, start: number): Token {
    return { kind, text, start, line: this.#line, column: start - this.#lineStart + 1 };
  }

  #followDims({ kind, text }: Token): void {
    if (kind !== 'sign') return;
    if (text === '[') {
      if (this.#dimsDepth > 0 || this.#beginsDims()) this.#dimsDepth++;
    } else if (text === ']' && this.#dimsDepth > 0) {
      this.#dimsDepth--;
    } else if (text === '{' || text === '}' || text === ';' || text === '=') {
      this.#dimsDepth = 0;
    }
  }

  /** `Tensor[` or `name=[` */
  #beginsDims(): boolean {
    const [first, second] = this.#tokens.slice(-3);
    if (second?.kind === 'name' && second.text === 'Tensor') return true;
    return first?.kind === 'name' && second?.kind === 'sign' && second.text === '=';
  }

  #countLines(): void {
    while (this.#newline !== -1 && this.#newline < this.#position) {
      this.#line++;
      this.#lineStart = this.#newline + 1;
      this.#newline = this.#text.indexOf('\n', this.#lineStart);
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const text = pattern.exec(this.#text)?.[0];
    if (text !== undefined) this.#position += text.length;
    return text;
  }
}

function parseString(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
