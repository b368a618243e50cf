import { UnsupportedError } from '../../../core/errors.ts';
import { ALL, complement, type CodePointSet } from './code-points.ts';
import {
  character,
  choiceOf,
  type Expression,
  repeat,
  sequence,
  sequenceOf,
  text,
} from '../expression.ts';
import { LINE_ENDS, parseClass, parseClassEscape, parseEscapedCodePoint } from './regex-class.ts';
import { parseRepetition } from './repetition.ts';
import { TextCursor } from './text-cursor.ts';

/** A regular expression: what it matches, and if the match reaches to the ends of a text. */
interface ParsedRegex {
  readonly options: readonly {
    readonly body: Expression;
    readonly isAtStart: boolean;
    readonly isAtEnd: boolean;
  }[];
}

/** Options of {@link parseRegex}. */
interface RegexOptions {
  /** Names the expression in errors. */
  readonly where: string;
  /** `.` is any character, line ends included. */
  readonly dotAll?: boolean;
}

const UNSUPPORTED_GROUP = /\?(?:<?[=!]|[a-z-]+:)/y;
const GROUP_NAME = /\?(?::|<[^>=!][^>]*>)/y;
const ASSERTION = /\\(?:[bB]|[1-9]|k)/y;

/**
 * Parses the syntax of JavaScript. Throws ParseError with line and column for bad syntax, and
 * UnsupportedError for what no automaton can follow: lookaround, references to groups, `\b`, anchors
 * other than at the ends, and properties of Unicode.
 */
export function parseRegex(source: string, options: RegexOptions): ParsedRegex {
  return new RegexParser(source, options).parse();
}

/** The source and the flags of an expression. Throws UnsupportedError for flags other than d, g, s, u and y. */
export function regexParts(regex: string | RegExp): { source: string; dotAll: boolean } {
  if (typeof regex === 'string') return { source: regex, dotAll: false };
  const unsupported = /[^dgsuy]/.exec(regex.flags)?.[0];
  if (unsupported !== undefined) {
    throw new UnsupportedError({
      where: 'regex',
      got: `the flag ${unsupported}`,
      expected: 'the flags s and u, or none',
    });
  }
  return { source: regex.source, dotAll: regex.dotAll };
}

/** Texts that match from their first to their last character. */
export function wholeMatch({ options }: ParsedRegex): Expression {
  return choiceOf(options.map(({ body }) => body));
}

/** Texts that match somewhere, as `RegExp.test` and the keyword `pattern` of a schema have it. */
export function matchAnywhere({ options }: ParsedRegex): Expression {
  const any = repeat(character(ALL), 0);
  return choiceOf(
    options.map(({ body, isAtStart, isAtEnd }) =>
      sequence(...(isAtStart ? [] : [any]), body, ...(isAtEnd ? [] : [any])),
    ),
  );
}

class RegexParser {
  readonly #cursor: TextCursor;
  readonly #dot: CodePointSet;

  constructor(source: string, { where, dotAll = false }: RegexOptions) {
    this.#cursor = new TextCursor(source, where);
    this.#dot = dotAll ? ALL : complement(LINE_ENDS);
  }

  parse(): ParsedRegex {
    const cursor = this.#cursor;
    const options: ParsedRegex['options'][number][] = [];
    do {
      const isAtStart = cursor.take('^');
      const body = this.#parseSequence();
      const end = cursor.at;
      options.push({ isAtStart, body, isAtEnd: cursor.take('$') });
      if (cursor.isAtEnd) return { options };
      if (cursor.at > end && cursor.peek() !== '|') throw this.#anchor(end);
    } while (cursor.take('|'));
    throw cursor.error('a "(" before it');
  }

  #parseSequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const part = this.#parsePart();
      if (part === undefined) return sequenceOf(parts);
      const repeated = parseRepetition(this.#cursor, part);
      // A lazy repetition matches the same texts.
      if (repeated !== part) this.#cursor.take('?');
      parts.push(repeated);
    }
  }

  #parsePart(): Expression | undefined {
    const cursor = this.#cursor;
    const start = cursor.at;
    switch (cursor.peek()) {
      case '':
      case '|':
      case ')':
      case '$':
        return undefined;
      case '^':
        throw this.#anchor(start);
      case '*':
      case '+':
      case '?':
        throw cursor.error('something to repeat');
      case '.':
        cursor.at++;
        return character(this.#dot);
      case '[':
        cursor.at++;
        return character(parseClass(cursor));
      case '(':
        cursor.at++;
        return cursor.nested(() => this.#parseGroup(start));
      case '\\':
        return this.#parseEscape(start);
      default:
        return text(cursor.next('a character'));
    }
  }

  #parseGroup(start: number): Expression {
    const cursor = this.#cursor;
    const unsupported = cursor.match(UNSUPPORTED_GROUP)?.[0];
    if (unsupported !== undefined) {
      throw cursor.unsupported(`(${unsupported}`, 'groups without lookaround or flags', start);
    }
    cursor.match(GROUP_NAME);
    const options: Expression[] = [];
    do options.push(this.#parseSequence());
    while (cursor.take('|'));
    if (cursor.peek() === '$') throw this.#anchor(cursor.at);
    cursor.expect(')');
    return choiceOf(options);
  }

  #parseEscape(start: number): Expression {
    const cursor = this.#cursor;
    const assertion = cursor.match(ASSERTION)?.[0];
    if (assertion !== undefined) {
      throw cursor.unsupported(assertion, 'neither \\b nor references to groups', start);
    }
    cursor.expect('\\');
    const set = parseClassEscape(cursor);
    return set === undefined
      ? text(String.fromCodePoint(parseEscapedCodePoint(cursor)))
      : character(set);
  }

  #anchor(at: number): UnsupportedError {
    const expected = '^ and $ at the ends of the expression only';
    return this.#cursor.unsupported('an anchor', expected, at);
  }
}
