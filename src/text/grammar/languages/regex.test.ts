import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { compileGrammar } from '../compile-grammar.ts';
import { randomText } from '../testing/random-text.ts';
import { randomTokens } from '../testing/random-tokens.ts';
import { Vocabulary } from '../tokens/vocabulary.ts';
import { vocabularyData } from '../../../frontend/decoders/reader/vocabulary-data.ts';

const TOKENS = randomTokens(1500, 9);
const VOCABULARY = new Vocabulary(
  vocabularyData([...TOKENS, undefined], { endTokens: [TOKENS.length] }),
);

/** Expressions, each with the characters of the texts that are tried on it. */
const EXPRESSIONS: readonly (readonly [source: string | RegExp, alphabet: string])[] = [
  ['a{2,3}b*|c+?', 'abc'],
  ['^(?:ab|a)(?<name>b?c)$', 'abc'],
  ['[^\\d\\s]x?[a-c\\]-]', 'ax1-] \n'],
  ['\\d{1,2}\\.\\w|\\W', '12.a_-'],
  ['.\\u00e9|\\x61\\u{1F600}?', 'aé😀\n'],
  [/[\u{1F600}-\u{1F64F}é-ö]{2}/u, '😀é🙏a'],
  [/.\n[\b]?/su, '\n\b\r'],
  ['(a|b)*a(a|b){3}', 'ab'],
  ['(?:a?b?){4}', 'ab'],
  ['[^a]', 'a日\n'],
  ['\\cJ|\\0|\\t|\\ud83d\\ude00|\\/', '\n\0\t😀-z/'],
  // Only without the flag u.
  [/[\w-z]|a\d-/, 'a-z9'],
  [/a{,3}|b{|}/, 'ab{},3'],
  ['[]|[^]', 'a\n'],
];

test.each(EXPRESSIONS)('texts match as RegExp has it: %s', (regex, alphabet) => {
  const grammar = compileGrammar({ regex }, VOCABULARY);
  const { source, flags } = typeof regex === 'string' ? new RegExp(regex, 'u') : regex;
  const whole = new RegExp(`^(?:${source})$`, flags);
  const random = seededRandom(2);
  const characters = Array.from(alphabet);
  let matchCount = 0;
  for (let i = 0; i < 300; i++) {
    const length = Math.floor(random() * 7);
    const text = Array.from(
      { length },
      () => characters[Math.floor(random() * characters.length)],
    ).join('');
    const matcher = grammar.start();
    const isAllowed = new TextEncoder().encode(text).every((byte) => matcher.accept(byte));
    expect([text, isAllowed && matcher.isComplete]).toEqual([text, whole.test(text)]);
    if (whole.test(text)) matchCount++;
  }
  expect(matchCount).toBeGreaterThan(0);
  for (let i = 0; i < 10; i++) expect(randomText(grammar, random, 10)).toMatch(whole);
});

test.each([
  ['a(?=b)', 'regex:1:2: got (?=, expected groups without lookaround or flags.'],
  ['(?<!a)b', 'regex:1:1: got (?<!, expected groups without lookaround or flags.'],
  ['(a)\\1', 'regex:1:4: got \\1, expected neither \\b nor references to groups.'],
  ['\\bword', 'regex:1:1: got \\b, expected neither'],
  ['a\n$b', 'regex:2:1: got an anchor, expected ^ and $ at the ends of the expression only.'],
  ['(^a|b)', 'regex:1:2: got an anchor'],
  ['\\p{L}', 'regex:1:1: got \\p, expected a class with its characters.'],
  ['(a', 'regex:1:3: got the end, expected ")".'],
  ['a)', 'regex:1:2: got ")", expected a "(" before it.'],
  ['*a', 'regex:1:1: got "*", expected something to repeat.'],
  ['a{3,2}', 'regex:1:2: got {3,2}, expected a first number that is not above the second.'],
  ['[b-a]', 'regex:1:2: got one that goes down, expected a range in order.'],
  ['[a', 'regex:1:3: got the end, expected the rest of a class.'],
  ['\\y', 'regex:1:1: got \\y, expected an escape sequence.'],
  ['\\ud800', 'regex:1:1: got ud800, expected a code point that is no surrogate.'],
  ['[]', 'grammar: got rules that no text can satisfy, expected at least one text.'],
  ['('.repeat(5000), 'regex:1:102: got one more, expected at most 100 groups inside each other.'],
])('refused with the place: %s', (regex, message) => {
  expect(() => compileGrammar({ regex }, VOCABULARY)).toThrow(message);
});

test('flags that change what matches are refused', () => {
  expect(() => compileGrammar({ regex: /a/i }, VOCABULARY)).toThrow(
    'regex: got the flag i, expected the flags s and u, or none.',
  );
});

test.each([
  ['(?:a{1000}){1000}', 'with repetitions written out'],
  ['(?:(?:){1000000}){1000000}', 'with repetitions written out'],
  ['(?:a|b)*a(?:a|b){40}', 'got sets of more than 400000 states, expected at most so many.'],
  ['(?:a?){20000}', 'got sets of more than 400000 states'],
  ['[a-z]{70000}', 'got 70001 states, expected less than 65535.'],
])('expressions that are too large are refused: %s', (regex, message) => {
  expect(() => compileGrammar({ regex }, VOCABULARY)).toThrow(message);
});
