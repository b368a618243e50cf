import { expect, test } from 'vitest';
import type { TokenConstraint } from '../steps.ts';
import { setBits } from './tokens/bit-mask.ts';
import { compileGrammar, type GrammarSource } from './compile-grammar.ts';
import { Vocabulary } from './tokens/vocabulary.ts';
import { vocabularyData } from '../../frontend/decoders/reader/vocabulary-data.ts';

const TEXTS = [
  '{',
  '"',
  'na',
  'me',
  '{"name',
  '":',
  ':',
  '"x',
  'x',
  '"}',
  '}',
  'é',
  'true',
  't',
  'r',
  'u',
  'e',
  ',',
  'a',
  'b',
];
const END = TEXTS.length;
const encoder = new TextEncoder();
/** Then an end token, and the two bytes of é apart. */
const VOCABULARY = new Vocabulary(
  vocabularyData(
    [
      ...TEXTS.map((text) => encoder.encode(text)),
      undefined,
      new Uint8Array([0xc3]),
      new Uint8Array([0xa9]),
    ],
    { endTokens: [END] },
  ),
);
const NAME = { schema: { properties: { name: { type: 'string' } }, required: ['name'] } };

const id = (text: string): number => TEXTS.indexOf(text);
const start = (source: GrammarSource) => compileGrammar(source, VOCABULARY).start();

function allowed(matcher: ReturnType<typeof start>): string[] {
  const mask = new Uint32Array(VOCABULARY.maskLength);
  matcher.mask(mask);
  return setBits(mask).map((id) => TEXTS[id] ?? `#${id}`);
}

test('end tokens are allowed where the text is complete, and nothing after them', () => {
  const matcher = start({ regex: 'a+' });
  expect(allowed(matcher)).toEqual(['a']);
  expect(matcher.accept(END)).toBe(false);
  expect(matcher.accept(id('a'))).toBe(true);
  expect([matcher.isComplete, allowed(matcher)]).toEqual([true, [`#${END}`, 'a'].sort().reverse()]);
  expect(matcher.accept(END)).toBe(true);
  expect([matcher.isComplete, allowed(matcher)]).toEqual([true, []]);
  expect([matcher.accept(id('a')), matcher.accept(END)]).toEqual([false, false]);
  matcher.rollback(1);
  expect(matcher.accept(id('a'))).toBe(true);
});

test('a text does not end within a character', () => {
  const matcher = start({ regex: 'aé|aè' });
  expect(matcher.accept(id('a'))).toBe(true);
  expect(allowed(matcher)).toEqual(['é', '#21']);
  expect(matcher.accept(21)).toBe(true);
  expect([matcher.isComplete, allowed(matcher)]).toEqual([false, ['#22']]);
  expect(matcher.accept(22)).toBe(true);
  expect([matcher.isComplete, allowed(matcher)]).toEqual([true, [`#${END}`]]);
});

test('tokens are taken back, also those that opened and closed rules', () => {
  const matcher = start({ schema: true });
  const before = allowed(matcher);
  const tokens = ['{', '"', 'a', '":', '{"name', '":', 'true', '}', '}'].map(id);
  const masks = tokens.map((token) => {
    const mask = allowed(matcher);
    expect(matcher.accept(token)).toBe(true);
    return mask;
  });
  expect(matcher.isComplete).toBe(true);
  for (const mask of masks.reverse()) {
    matcher.rollback(1);
    expect(allowed(matcher)).toEqual(mask);
  }
  for (const token of tokens) matcher.accept(token);
  matcher.rollback(tokens.length);
  expect(allowed(matcher)).toEqual(before);
  expect(() => matcher.rollback(1)).toThrow('rollback: got 1 tokens, expected at most 0');
});

test('a matcher is what the loop of a generation takes', () => {
  const constraint: TokenConstraint = start(NAME);
  expect(constraint.forced?.().map((token) => TEXTS[token])).toEqual(['{"name', '":']);
});

test('a copy goes on by itself', () => {
  const matcher = start(NAME);
  matcher.accept(id('{"name'));
  const copy = matcher.clone();
  copy.accept(id('":'));
  copy.accept(id('"x'));
  expect(allowed(matcher)).toEqual(['"', '":']);
  expect(allowed(copy)).toEqual(expect.arrayContaining(['"}', 'é', 'x']));
  copy.rollback(3);
  expect(allowed(copy)).toEqual(['{', '{"name']);
});

test('text that must follow, and its tokens', () => {
  const matcher = start(NAME);
  const text = () => new TextDecoder().decode(matcher.forcedBytes());
  expect(text()).toBe('{"name":"');
  // The last quote is left to the model: a token may be the quote and what is behind it.
  expect(matcher.forced().map((token) => TEXTS[token])).toEqual(['{"name', '":']);
  expect(matcher.forced(1)).toEqual([id('{"name')]);
  expect(new TextDecoder().decode(matcher.forcedBytes(3))).toBe('{"n');
  for (const token of matcher.forced()) expect(matcher.accept(token)).toBe(true);
  expect(text()).toBe('"');
  for (const token of ['"x', '"']) matcher.accept(id(token));
  // Nothing is behind the last brace.
  expect([text(), matcher.forced()]).toEqual(['}', [id('}')]]);
  matcher.accept(id('}'));
  expect([text(), matcher.forced()]).toEqual(['', []]);
});

test('forced text has no cut characters, and ends where the text may', () => {
  const cut = start({ regex: 'aé|aè' });
  expect([...cut.forcedBytes()]).toEqual([0x61]);
  expect(cut.forced()).toEqual([id('a')]);
  expect([...start({ regex: 'aébx*' }).forcedBytes()]).toEqual([0x61, 0xc3, 0xa9, 0x62]);
  expect([...start({ regex: 'aéb' }).forcedBytes(2)]).toEqual([0x61]);
});

test('a mask of another length is refused', () => {
  expect(() => start(NAME).mask(new Uint32Array(2))).toThrow(
    'mask: got 2 words, expected 1, the maskLength of the vocabulary.',
  );
});

test('ids that are no tokens of a text are not accepted', () => {
  const matcher = start({ regex: '.*' });
  expect([-1, END + 9, Number.NaN].filter((token) => matcher.accept(token))).toEqual([]);
});

test('a grammar with too many ways to read a text says so', () => {
  const ebnf = 'root ::= x | y\nx ::= "a" root "b" | "ab"\ny ::= "a" root "bb" | "a"';
  const matcher = start({ ebnf });
  expect(() => {
    for (let i = 0; i < 60; i++) matcher.accept(id('a'));
  }).toThrow('grammar: got more than 1000 ways to read a text');
});

test('vocabularies are checked', () => {
  expect(() => new Vocabulary(vocabularyData([undefined], { endTokens: [1] }))).toThrow(
    'endTokens: got 1, expected ids from 0 to 0.',
  );
  expect(() => new Vocabulary(vocabularyData([new Uint8Array(70_000)]))).toThrow(
    'token 0: got 70000 bytes, expected at most 65535.',
  );
});

test('a source that is none is refused', () => {
  const source = { grammar: 'a' } as unknown as GrammarSource;
  expect(() => compileGrammar(source, VOCABULARY)).toThrow(
    'compileGrammar: got grammar, expected schema, ebnf or regex.',
  );
});
