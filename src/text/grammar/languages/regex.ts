import { UnsupportedError } from '../../../core/errors.ts';
import {
  ALL,
  complement,
  type CodePointSet,
  type CodePointRange,
  charactersOf,
  codePointSet,
  union,
} from './code-points.ts';
import {
  character,
  choiceOf,
  type Expression,
  repeat,
  sequence,
  sequenceOf,
  text,
} from '../expression.ts';
import { parseRepetition } from './repetition.ts';
import { TextCursor } from './text-cursor.ts';

const LINE_ENDS = charactersOf('\n\r\u2028\u2029');

const CLASSES: Readonly<Record<string, CodePointSet>> = {
  d: codePointSet([[0x30, 0x39]]),
  w: codePointSet([
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ]),
  s: union(charactersOf('\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff'), LINE_ENDS, [
    [0x2000, 0x200a],
  ]),
};

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

const HEXADECIMAL = /x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})/y;
const LOW_SURROGATE = /\\u([dD][c-fC-F][0-9a-fA-F]{2})/y;
const CONTROL_LETTER = /c([A-Za-z])/y;

/** Parses `\d` and the like, with the cursor behind the backslash; undefined for one character. */
function parseClassEscape(cursor: TextCursor): CodePointSet | undefined {
  const letter = cursor.peek();
  if (letter === 'p' || letter === 'P') {
    throw cursor.unsupported(`\\${letter}`, 'a class with its characters', cursor.at - 1);
  }
  const set = CLASSES[letter.toLowerCase()];
  if (set === undefined) return undefined;
  cursor.at++;
  return letter === letter.toLowerCase() ? set : complement(set);
}

/** Parses an escaped character, with the cursor behind the backslash. */
function parseEscapedCodePoint(cursor: TextCursor): number {
  const start = cursor.at - 1;
  const hexadecimal = cursor.match(HEXADECIMAL);
  if (hexadecimal !== undefined) {
    const high = Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? hexadecimal[3] ?? '', 16);
    const low = (high & 0xfc00) === 0xd800 ? cursor.match(LOW_SURROGATE)?.[1] : undefined;
    if (low !== undefined) {
      return 0x10000 + ((high & 0x3ff) << 10) + (Number.parseInt(low, 16) & 0x3ff);
    }
    if (high <= 0x10ffff && (high & ~0x7ff) !== 0xd800) return high;
    throw cursor.error('a code point that is no surrogate', hexadecimal[0], start);
  }
  const letter = cursor.match(CONTROL_LETTER)?.[1];
  if (letter !== undefined) return letter.charCodeAt(0) & 31;
  const character = cursor.next('an escaped character');
  const control = CONTROLS[character];
  if (control !== undefined) return control;
  if (/[A-Za-z0-9]/.test(character)) {
    throw cursor.error('an escape sequence', `\\${character}`, start);
  }
  return character.codePointAt(0) ?? 0;
}

/** Parses a class, with the cursor behind its bracket. */
function parseClass(cursor: TextCursor): CodePointSet {
  const isNegated = cursor.take('^');
  const sets: CodePointSet[] = [];
  while (!cursor.take(']')) {
    const start = cursor.at;
    const first = parseMember(cursor);
    if (typeof first !== 'number') {
      sets.push(first);
      continue;
    }
    const dash = cursor.at;
    const last = cursor.take('-') && cursor.peek() !== ']' ? parseMember(cursor) : undefined;
    if (typeof last !== 'number') {
      // A dash that is last, or beside a class, stands for itself.
      cursor.at = dash;
      if (cursor.take('-')) sets.push(charactersOf('-'));
      if (last !== undefined) parseMember(cursor);
      sets.push(last ?? [], codePointSet([[first, first]]));
      continue;
    }
    if (first > last) throw cursor.error('a range in order', 'one that goes down', start);
    const range: CodePointRange = [first, last];
    sets.push(codePointSet([range]));
  }
  const set = codePointSet(sets.flat());
  return isNegated ? complement(set) : set;
}

function parseMember(cursor: TextCursor): number | CodePointSet {
  const character = cursor.next('the rest of a class');
  if (character !== '\\') return character.codePointAt(0) ?? 0;
  if (cursor.take('b')) return 8;
  return parseClassEscape(cursor) ?? parseEscapedCodePoint(cursor);
}

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
