import { expect, test } from 'vitest';
import { WeftError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { buildAutomaton } from './automaton/automaton.ts';
import { compileGrammar, type GrammarSource, rulesOf } from './compile-grammar.ts';
import { MAX_PART_COUNT } from './measure-expression.ts';
import { randomTokens } from './testing/random-tokens.ts';
import { Vocabulary } from './tokens/vocabulary.ts';
import { vocabularyData } from '../../frontend/decoders/reader/vocabulary-data.ts';

const TOKENS = randomTokens(600, 4);
const VOCABULARY = new Vocabulary(
  vocabularyData([...TOKENS, undefined], { endTokens: [TOKENS.length] }),
);

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const closed = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
/** Definitions of which each is made with a reference to the next one. */
const chain = (length: number, make: (next: object, i: number) => object, last: object) => ({
  $ref: '#/$defs/0',
  $defs: Object.fromEntries([
    ...many(length, (i) => [String(i), make({ $ref: `#/$defs/${i + 1}` }, i)]),
    [String(length), last],
  ]) as Record<string, object>,
});

/** Texts of which the bytes are tokens; which of them a grammar has. */
function allowedOf(source: GrammarSource, texts: readonly string[]): string[] {
  const grammar = compileGrammar(source, VOCABULARY);
  return texts.filter((text) => {
    const matcher = grammar.start();
    return (
      new TextEncoder().encode(text).every((byte) => matcher.accept(byte)) && matcher.isComplete
    );
  });
}

test('100,000 values are a graph of their common begins and ends', () => {
  const values = many(100_000, (i) => `item-${i}`);
  const schema = { enum: values };
  expect(buildAutomaton(rulesOf({ schema })).stateCount).toBeLessThan(200);
  const own = ['"item-0"', '"item-7"', '"item-99999"'];
  const others = ['"item-100000"', '"item-07"', '"item-"', '"item-1'];
  expect(allowedOf({ schema }, [...own, ...others])).toEqual(own);
});

test('a choice of many texts has these and no other', () => {
  const random = seededRandom(3);
  const letters = Array.from('abé😀"\\\ud83d');
  const word = (): string =>
    many(Math.floor(random() * 5), () => letters[Math.floor(random() * letters.length)]).join('');
  for (let round = 0; round < 20; round++) {
    const values = [...many(30, word), 'a', 'ab'];
    const others = many(200, word);
    const json = new Set(values.map((value) => JSON.stringify(value)));
    const all = [...values, ...others].map((value) => JSON.stringify(value));
    expect(allowedOf({ schema: { enum: values } }, all)).toEqual(
      all.filter((text) => json.has(text)),
    );
  }
});

test('names of other properties are none of those that are listed', () => {
  const names = ['a', 'ab', 'é', 'a"b', '😀', '', 'b\n'];
  const properties = Object.fromEntries(names.map((name) => [name, false]));
  const schema = { type: 'object', properties, additionalProperties: { type: 'null' } };
  const others = ['abc', 'b', 'éa', 'a"', '😁', '日', '\n', 'a"c'];
  const texts = [...names, ...others].map((name) => `{${JSON.stringify(name)}:null}`);
  expect(allowedOf({ schema }, texts)).toEqual(texts.slice(names.length));
});

/** Each link uses the next one twice. */
test.each<[name: string, make: (next: object, i: number) => object]>([
  ['properties', (next) => closed({ a: next, b: next })],
  [
    'alternatives',
    (next, i) => ({ anyOf: [closed({ a: next }), closed({ b: next }), { const: i }] }),
  ],
  ['alternatives beside a type', (next) => ({ type: 'object', anyOf: [next, next] })],
  ['schemas together', (next) => closed({ a: { allOf: [next, {}] }, b: { allOf: [next, {}] } })],
  [
    'a reference beside a type',
    (next) => closed({ a: { ...next, type: 'object' }, b: { ...next, type: 'object' } }),
  ],
  ['lists', (next) => ({ type: 'array', items: { type: 'array', items: next } })],
])('a chain of 60 definitions does not double: %s', (_, make) => {
  const schema = chain(60, make, { type: 'object', properties: {} });
  expect(buildAutomaton(rulesOf({ schema })).stateCount).toBeLessThan(3000);
});

test('lists in lists do not double, and a schema may be part of what it is merged with', () => {
  let schema: object = { type: 'null' };
  for (let i = 0; i < 90; i++) schema = { type: 'array', items: schema };
  expect(buildAutomaton(rulesOf({ schema: { ...schema } })).stateCount).toBeLessThan(600);
  const list = {
    properties: { next: { allOf: [{ $ref: '#' }, { type: 'object' }] } },
    additionalProperties: false,
  };
  const texts = ['{"next":{"next":{}}}', '{}', '{"next":null}'];
  expect(allowedOf({ schema: list }, texts)).toEqual(texts.slice(0, 2));
});

test('a tuple of many items, of which those at the end may be missing', () => {
  const prefixItems = many(2000, () => ({ const: 1 }));
  const schema = { type: 'array', prefixItems, minItems: 2, items: { const: 2 } };
  const texts = ['[1]', '[1,1]', '[1,1,1]', '[1,1,2]', `[${many(2000, () => 1).join()},2,2]`];
  expect(allowedOf({ schema }, texts)).toEqual([texts[1], texts[2], texts[4]]);
});

const STEPS = 'takes more than 10000000 steps up to here, expected at most so many. Use fewer';
const DEEP = 'got one more, expected at most 500 lists and objects inside each other.';
const PARTS = 'with repetitions written out, expected at most 300000. Use smaller numbers';
const words = (count: number, length: number): string[] => {
  const random = seededRandom(1);
  return many(count, () => many(length, () => String.fromCharCode(97 + random() * 26)).join(''));
};

test.each<[name: string, source: () => GrammarSource, message: string]>([
  [
    'values of a million letters',
    () => ({ schema: { properties: { a: { enum: words(100_000, 10) } } } }),
    '#/properties/a: got 100000 texts of more than 65535 states together, expected at most so many. Use fewer or shorter texts',
  ],
  [
    'a long value',
    () => ({ schema: { enum: ['x'.repeat(1e6), 'y'] } }),
    '#: got 2 texts of more than 65535 states',
  ],
  [
    'a long constant',
    () => ({ schema: { const: 'x'.repeat(1e6) } }),
    `#: got 1000002 parts, ${PARTS}`,
  ],
  ['a deep constant', () => ({ schema: { const: nested(100_000) } }), DEEP],
  ['a deep default', () => ({ schema: { type: 'null', default: nested(100_000) } }), DEEP],
  ['a deep type', () => ({ schema: { type: nested(100_000) } }), DEEP],
  [
    'a pattern of millions of letters',
    () => ({ schema: { items: { pattern: 'ab'.repeat(2e6) } } }),
    '#/items/pattern: got 4000000 letters, expected at most 200000. Write a shorter one.',
  ],
  [
    'a grammar of millions of letters',
    () => ({ ebnf: `root ::= "a"${' '.repeat(1e6)}` }),
    'ebnf: got 1000012 letters',
  ],
  [
    'repetitions of a pattern in each other',
    () => ({ schema: { items: { pattern: '^((a{1000}){1000}){1000}$' } } }),
    `#/items/pattern: got 1000000002 parts, ${PARTS}`,
  ],
  [
    'many parts',
    () => ({ schema: { pattern: `^${'a{9}'.repeat(4e4)}` } }),
    `#/pattern: got 360179 parts, ${PARTS}`,
  ],
  [
    'repetitions of nothing',
    () => ({ regex: '(){99999999999}' }),
    `grammar, rule root: got more than ${MAX_PART_COUNT} parts, ${PARTS}`,
  ],
  [
    'many items',
    () => ({ schema: { items: { type: 'null' }, maxItems: 1e15 } }),
    `#/maxItems: got 1999999999999999 parts, ${PARTS}`,
  ],
  [
    'items from a number on',
    () => ({ schema: { items: { type: 'null' }, minItems: 1e300 } }),
    '#/minItems: got 2e+300 parts',
  ],
  [
    'a long tuple',
    () => ({ schema: { prefixItems: many(15_000, () => ({ type: 'null' })) } }),
    'grammar, rule #: got 75002 states',
  ],
  [
    'a chain of 20,000 definitions',
    () => ({ schema: chain(20_000, (next) => closed({ a: next }), { type: 'null' }) }),
    '#/$defs/4995/properties/a: got more than 5000 rules',
  ],
  [
    'a schema that is merged with itself for ever',
    () => ({ schema: { type: 'object', anyOf: [{ $ref: '#' }, { minItems: 1 }] } }),
    'got more than 5000 rules',
  ],
  [
    'schemas together',
    () => ({ schema: { allOf: many(5000, (i) => ({ properties: { [`p${i}`]: {} } })) } }),
    `#: got a grammar that ${STEPS}`,
  ],
  [
    'alternatives of which each is compared with each',
    () => ({ schema: { items: { oneOf: many(3000, (i) => ({ const: i })) } } }),
    `#/items/oneOf: got a grammar that ${STEPS}`,
  ],
  [
    'many properties',
    () => ({ schema: closed(Object.fromEntries(many(50_000, (i) => [`p${i}`, {}]))) }),
    `#: got a grammar that ${STEPS}`,
  ],
  [
    'names that others are told from',
    () => ({ schema: { properties: { ['x'.repeat(1e5)]: {} }, additionalProperties: {} } }),
    'got a grammar that takes',
  ],
  [
    'many formats',
    () => ({
      schema: closed(Object.fromEntries(many(4000, (i) => [`p${i}`, { format: 'date-time' }]))),
    }),
    'got a grammar that takes',
  ],
  [
    'many bounds',
    () => ({
      schema: closed(
        Object.fromEntries(many(2000, (i) => [`p${i}`, { type: 'integer', minimum: i }])),
      ),
    }),
    'got a grammar that takes',
  ],
  [
    'many lengths',
    () => ({ schema: { anyOf: many(20_000, (i) => ({ type: 'string', maxLength: i })) } }),
    'got a grammar that takes',
  ],
  [
    'rules that are empty one behind the other',
    () => {
      const rules = many(4000, (i) => `r${i} ::= ${i === 3999 ? '"a"?' : `r${i + 1} r${i + 1}`}`);
      return { ebnf: [`root ::= ${many(4000, (i) => `r${i}`).join(' ')}`, ...rules].join('\n') };
    },
    `grammar: got a grammar that ${STEPS}`,
  ],
  [
    'required names that are no list',
    () => ({ schema: { allOf: [{ required: 1 }, { required: 2 }] } }),
    '#/allOf/1/required: got 2, expected a list of names.',
  ],
])('%s: a typed error with the place', (_, source, message) => {
  let thrown: unknown;
  try {
    compileGrammar(source(), VOCABULARY);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WeftError);
  expect(String(thrown)).toContain(message);
});

test('rules inside each other that are small', () => {
  const rules = many(4000, (i) => `r${i} ::= (r${i + 1})`);
  const ebnf = [...rules, 'r4000 ::= ("a"?)?', 'root ::= r0'].join('\n');
  expect(allowedOf({ ebnf }, ['a', '', 'aa'])).toEqual(['a', '']);
});

test('a mask of an ambiguous grammar takes a bounded number of steps', () => {
  const names = many(300, (i) => `r${i}`);
  const rules = words(300, 3).map(
    (word, i) => `r${i} ::= [a-z] ([a-z] | "(" r${i} ")")* "${word}"?`,
  );
  const ebnf = [`root ::= (${names.join('|')})*`, ...rules].join('\n');
  expect(() => {
    const matcher = compileGrammar({ ebnf }, VOCABULARY).start();
    for (let i = 0; i < 5; i++) {
      matcher.mask(new Uint32Array(VOCABULARY.maskLength));
      matcher.accept(0x61);
    }
  }).toThrow(/ways to read a text|takes more than 10000000 steps/);
});
