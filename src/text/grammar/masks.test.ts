import { expect, test } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import { setBits } from './tokens/bit-mask.ts';
import { ALL, charactersOf } from './languages/code-points.ts';
import { Grammar, rulesOf } from './compile-grammar.ts';
import { character, choice, type Rules, repeat, rule, sequence, text } from './expression.ts';
import { randomTokens } from './testing/random-tokens.ts';
import { SlowMatcher } from './testing/slow-matcher.ts';
import { Vocabulary } from './tokens/vocabulary.ts';
import { vocabularyData } from '../../frontend/decoders/reader/vocabulary-data.ts';

const digits = charactersOf('0123456789');
const letters = charactersOf('abcdefghijklmnopqrstuvwxyz');
const pair = (min: number, max: number) =>
  ({
    kind: 'counted',
    name: 'pair',
    unit: choice(character(letters), text('"é')),
    end: '}',
    min,
    max,
  }) as const;

const rulesWith = (
  rules: Record<string, Rules['rules'] extends ReadonlyMap<string, infer E> ? E : never>,
): Rules => ({
  root: Object.keys(rules)[0] ?? '',
  rules: new Map(Object.entries(rules)),
});

/** Grammars that take every path: nested, ambiguous, empty, counted, and cut characters. */
const GRAMMARS: Readonly<Record<string, Rules>> = {
  'texts with common starts': rulesOf({ regex: 'the(re|n|ory)? (cat|car|cart|é|ê)s?' }),
  'any characters': rulesOf({ regex: /(.|\n){0,6}x/s }),
  'repetitions that are counted': rulesOf({
    ebnf: String.raw`root ::= "\"" [^"]{2,9} "\"" | "(" ([a-z] | "--" | "-)"){3,20} ")!" | "x"{8,} "y"`,
  }),
  'a pattern with escapes': rulesOf({ schema: { type: 'string', pattern: '^[^b]{1,10}$' } }),
  'repetitions that cannot be counted': rulesOf({
    ebnf: 'root ::= [a-z]{0,9} "a" | ("b" | "bb" | "c"){2,9} ")"',
  }),
  'an expression whose end is open': rulesOf({ regex: '[a-z]*[a-f]{3}' }),
  'a bracket grammar': rulesOf({ ebnf: 'root ::= ("(" root ")" | "[" root "]" | "a")*' }),
  'a palindrome': rulesOf({ ebnf: 'root ::= "a" root "a" | "b" root "b" | "c" | ""' }),
  'two ways for each letter': rulesOf({
    ebnf: `root ::= x | y
           x ::= "a" root | "ab"
           y ::= "a" root "b" | "a"`,
  }),
  'rules that may be empty': rulesOf({
    ebnf: `root ::= a b a b "!"
           a ::= "x" a "y" | ""
           b ::= a "z" | a a`,
  }),
  'right recursion': rulesOf({
    ebnf: 'root ::= item "," root | item\nitem ::= [a-z]+ | "(" root ")"',
  }),
  'any JSON': rulesOf({ schema: true, space: 'pretty' }),
  'counted strings': rulesOf({
    schema: {
      properties: {
        a: { type: 'string', minLength: 2, maxLength: 5 },
        b: { type: 'string', maxLength: 30 },
        c: { type: ['string', 'null'], minLength: 25 },
      },
      required: ['a', 'b'],
    },
  }),
  'a list of optional items': rulesOf({
    schema: {
      properties: Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name) => [name, { type: 'integer' }]),
      ),
      required: ['c'],
      additionalProperties: { type: 'boolean' },
    },
  }),
  'counted parts with equal starts': rulesWith({
    root: repeat(
      choice(sequence(text('{'), pair(1, 3)), sequence(text('{'), pair(2, 20), text('!'))),
      0,
    ),
  }),
  'counted parts that end their rule': rulesWith({
    root: sequence(rule('a'), character(digits)),
    a: choice(sequence(text('{'), pair(0, 2)), sequence(text('('), rule('a'), text(')'))),
  }),
  'all characters': rulesWith({ root: sequence(repeat(character(ALL), 2, 2), text('日')) }),
};

test.each(Object.keys(GRAMMARS))(
  'the mask has exactly the tokens whose bytes can be read: %s',
  (name) => {
    const rules = GRAMMARS[name] ?? rulesWith({});
    const tokens = randomTokens(400, 7);
    const own = [
      'then',
      'theory',
      ' cat',
      'rts',
      'abc',
      '((',
      ')]',
      '[a]',
      'aab',
      'bba',
      'aa',
      'xy',
      'zz',
      'xxyy',
      'zxyz',
      'a"é',
      'a}',
      '{a',
      '}{b',
      '}!',
      'ab}!{',
      '"é"',
      '{"a":"',
      'xx","b":"',
      '"}',
      'bcdefghijklmnop',
      'true',
      ',"c":',
      '{"',
      'a":',
      '1,"',
      '1}',
      'null',
    ];
    const encoder = new TextEncoder();
    const known = new Set(tokens.map((bytes) => bytes.join()));
    for (const text of own) {
      const bytes = encoder.encode(text);
      if (!known.has(bytes.join())) tokens.push(bytes);
    }
    // A second token with the same bytes, one without bytes, and one that ends.
    tokens.push(encoder.encode('a'), new Uint8Array());
    const end = tokens.length;
    const vocabulary = new Vocabulary(vocabularyData([...tokens, undefined], { endTokens: [end] }));
    const grammar = new Grammar(rules, vocabulary);
    const mask = new Uint32Array(vocabulary.maskLength);
    const random = seededRandom(11);
    let longest = 0;
    for (let walk = 0; walk < 5; walk++) {
      const matcher = grammar.start();
      let slow = SlowMatcher.start(rules);
      for (let step = 0; step < 8; step++) {
        matcher.mask(mask);
        const after = readers(slow);
        const expected = tokens.flatMap((bytes, id) => (after(bytes) === undefined ? [] : [id]));
        if (slow.isComplete) expected.push(end);
        expect(setBits(mask)).toEqual(expected);
        expect(matcher.isComplete).toBe(slow.isComplete);
        const id = expected[Math.floor(random() * expected.length)];
        if (id === undefined || id === end) break;
        // Refused tokens change nothing.
        const refused = Math.floor(random() * tokens.length);
        if (!expected.includes(refused)) expect(matcher.accept(refused)).toBe(false);
        expect(matcher.accept(id)).toBe(true);
        slow = after(tokens[id] ?? new Uint8Array()) ?? slow;
        longest = Math.max(longest, step);
      }
    }
    expect(longest).toBeGreaterThan(1);
  },
);

/** Reads tokens from one place; what they have in common is read once. */
function readers(start: SlowMatcher) {
  const after = new Map<string, SlowMatcher | undefined>([['', start]]);
  return (bytes: Uint8Array): SlowMatcher | undefined => {
    let matcher: SlowMatcher | undefined = start;
    for (const [i, byte] of bytes.entries()) {
      const key = bytes.subarray(0, i + 1).join();
      if (!after.has(key)) after.set(key, matcher?.read(byte));
      matcher = after.get(key);
      if (matcher === undefined) return undefined;
    }
    return bytes.length === 0 ? undefined : matcher;
  };
}
