import { Tokenizer } from '@huggingface/tokenizers';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { withMeter } from '../../../core/limits/work-meter.ts';
import { preTokenizer, preTokenizerNames } from '../files/tokenizer/pre-tokenizers.ts';
import { mixedStrings } from '../files/testing/mixed-strings.ts';
import { MeteredRegExp } from './metered-regexp.ts';

/** The expression that the package makes of one in the syntax of Oniguruma. */
function compiled(regex: string): RegExp {
  const { pre_tokenizer: made } = new Tokenizer(
    {
      added_tokens: [],
      normalizer: null,
      post_processor: null,
      decoder: null,
      pre_tokenizer: { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated' },
      model: { type: 'WordPiece', vocab: {}, unk_token: 'u' },
    },
    {},
  );
  return (made as unknown as { readonly pattern: RegExp }).pattern;
}

const PATTERNS = [
  ...new Set(preTokenizerNames().flatMap((name) => preTokenizer(name)?.patterns ?? [])),
  "(?i:'s|'t|'re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+",
  '\\b\\w+\\b',
  '^\\s+|\\s+$',
  '(?<=a)b|(?<!x y)z|(?<=(?:ab|c)+)d',
  '[[:alpha:]]+|[a-z&&[^aeiou]]+|[^a-z&&b-d]',
  '(a|ab)(c|bcd)*?d',
  '(?:a?b*)+c|(?:(?:)*a|b?)*',
  '(?:a{2,3}?|b){0,2}x|a{2}|b{2,}',
  '\\x{1F600}|\\ud83d\\ude01|\\u{e9}|\\x41',
  '(?=.{3}x)..|.+?y|.*?',
  '(?<word>a+)(?>b)',
];

test.each(PATTERNS)('matches as RegExp does: %s', (regex) => {
  const native = compiled(regex);
  const own = new MeteredRegExp(native);
  const random = seededRandom(3);
  const letters = Array.from(
    "aabbccdxyz AB'sS'tllre \n\n\r\t  12345é日本語한.,;!?#_-(){}[]😀😁\u0301İſ",
  );
  const draw = (): string => letters[Math.floor(random() * letters.length)] ?? '';
  const texts = Array.from({ length: 150 }, () =>
    Array.from({ length: random() * 30 }, draw).join(''),
  );
  for (const text of [...texts, ...mixedStrings(40, { seed: 5 })]) {
    const found = (by: RegExp) =>
      Array.from(text.matchAll(by), ({ 0: match, index }) => [match, index]);
    expect(found(own), text).toEqual(found(native));
    expect(text.match(own), text).toEqual(text.match(native));
    expect(text.replaceAll(own, '-'), text).toBe(text.replaceAll(native, '-'));
    // Without what groups hold.
    if (!/\((?!\?)|\(\?<\w/.test(native.source))
      expect(text.split(own)).toEqual(text.split(native));
  }
});

test('what replaces is text', () => {
  expect('ab'.replaceAll(new MeteredRegExp(/b/gu), '$&$`$1')).toBe('a$&$`$1');
});

const stepsOf = (pattern: RegExp, text: string): number => {
  let steps = 0;
  const count = (more: number): void => {
    steps += more;
  };
  const own = new MeteredRegExp(pattern);
  withMeter({ count, reserve: () => undefined }, () => text.match(own));
  return steps;
};

test('each time that an expression goes back counts', () => {
  expect(stepsOf(/(?:a+)+x/gu, 'a'.repeat(8))).toBeGreaterThan(20 * stepsOf(/(?:a+)+x/gu, 'aaa'));
  expect(stepsOf(/(?:)/gu, 'a'.repeat(9))).toBeGreaterThan(9);
  expect(stepsOf(/\p{L}+|\s+/gu, 'some words '.repeat(100))).toBeLessThan(1100 * 800);
});

test.each([
  [/(a)\1/gu, 'a regular expression that goes on with "\\\\1"'],
  [/\bword/gu, 'goes on with "\\\\bword"'],
  [/^a/gu, 'goes on with "^a"'],
  [
    new RegExp(`${'('.repeat(150)}a${')'.repeat(150)}`, 'gu'),
    'a regular expression that goes on with "((',
  ],
])('%s is refused', (pattern, message) => {
  expect(() => new MeteredRegExp(pattern)).toThrow(message);
});
