import {
  type CodePointRange,
  type CodePointSet,
  charactersOf,
  codePointSet,
  complement,
  union,
} from './code-points.ts';
import type { TextCursor } from './text-cursor.ts';

export const LINE_ENDS = charactersOf('\n\r\u2028\u2029');

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
export function parseClassEscape(cursor: TextCursor): CodePointSet | undefined {
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
export function parseEscapedCodePoint(cursor: TextCursor): number {
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
export function parseClass(cursor: TextCursor): CodePointSet {
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
