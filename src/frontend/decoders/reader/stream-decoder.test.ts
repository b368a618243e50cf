import { describe, expect, test } from 'vitest';
import { StopStrings } from '../../../text/generation.ts';
import { StreamDecoder } from './stream-decoder.ts';

const BEGIN = { before: [], waiting: [] };
/** A token for each byte. */
const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)];
const decodeBytes = (ids: readonly number[]): string =>
  new TextDecoder().decode(Uint8Array.from(ids));
/**
 * Tokens as tokenizers of Llama's kind have them: words begin with a blank, which the first one of
 * a text loses.
 */
const WORDS = ['▁Mia', '▁went', '▁home', '.', '▁'];
const decodeWords = (ids: readonly number[]): string =>
  ids
    .map((id) => WORDS[id])
    .join('')
    .replaceAll('▁', ' ')
    .replace(/^ /, '');

describe('text of tokens as they come', () => {
  test.each(['plain', 'süß', '日本語', '👩‍👩‍👧 and 🇩🇪', 'a\u0000b', '\ufeffbom', ''])(
    '%j by its bytes',
    (text) => {
      const decoder = new StreamDecoder(decodeBytes, BEGIN);
      const pieces = bytesOf(text).map((id) => decoder.push(id));
      expect(pieces.join('') + decoder.end()).toBe(decodeBytes(bytesOf(text)));
      for (const piece of pieces) expect(piece).not.toContain('\ufffd');
      expect(decoder.end()).toBe('');
    },
  );

  test('a character that never becomes whole is given at the end', () => {
    const decoder = new StreamDecoder(decodeBytes, BEGIN);
    const pieces = bytesOf('a👍')
      .slice(0, 4)
      .map((id) => decoder.push(id));
    expect(pieces).toEqual(['a', '', '', '']);
    expect(decoder.end()).toBe('\ufffd');
  });

  test('what comes behind a broken character is given', () => {
    const decoder = new StreamDecoder(decodeBytes, BEGIN);
    const ids = [0x61, 0xf0, 0x9f, 0x62, 0x63];
    expect(ids.map((id) => decoder.push(id)).join('') + decoder.end()).toBe('a\ufffdbc');
  });

  test('the blank before the first word is that of the text before it', () => {
    const tokens = [1, 2, 3];
    const first = new StreamDecoder(decodeWords, BEGIN);
    expect(tokens.map((id) => first.push(id))).toEqual(['went', ' home', '.']);
    const next = new StreamDecoder(decodeWords, { before: [0], waiting: [] });
    expect(tokens.map((id) => next.push(id))).toEqual([' went', ' home', '.']);
    expect(next.end()).toBe('');
  });

  test.each([1, 2, 3])('%i bytes of a character before it', (count) => {
    const bytes = bytesOf('x👍!');
    const decoder = new StreamDecoder(decodeBytes, {
      before: bytes.slice(0, 1 + count),
      waiting: [],
    });
    const pieces = bytes.slice(1 + count).map((id) => decoder.push(id));
    expect(pieces.filter((piece) => piece !== '')).toEqual(['👍', '!']);
  });
});

/** All ways to cut a text into pieces of at most three. */
function cuts(text: string): string[][] {
  if (text === '') return [[]];
  return [1, 2, 3]
    .filter((length) => length <= text.length)
    .flatMap((length) => cuts(text.slice(length)).map((rest) => [text.slice(0, length), ...rest]));
}

describe('strings that end a text', () => {
  test.each([
    ['one', 'abcSTOPdef', ['STOP'], 'abc'],
    ['the first of some', 'ab##cd\n\nef', ['\n\n', '##'], 'ab'],
    ['none', 'abcSTO', ['STOP'], 'abcSTO'],
    ['one whose begin comes twice', 'xaaab', ['aab'], 'xa'],
    ['one that is the begin of another', 'x<end>', ['<end>', '<'], 'x'],
    ['an empty one', 'abc', [''], 'abc'],
    ['at once', 'ab', ['ab'], ''],
  ])('%s, however it is cut', (_, text, stops, expected) => {
    for (const pieces of cuts(text)) {
      const strings = new StopStrings(stops);
      let shown = '';
      for (const piece of pieces) {
        shown += strings.push(piece);
        // Text that was shown cannot be taken back.
        expect(expected.startsWith(shown), pieces.join('|')).toBe(true);
      }
      expect(strings.isStopped).toBe(expected !== text);
      expect(shown + strings.end(), pieces.join('|')).toBe(expected);
    }
  });
});
