import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { compileGrammar } from '../compile-grammar.ts';
import { findViolation } from '../testing/check-value.ts';
import { randomText } from '../testing/random-text.ts';
import { randomTokens } from '../testing/random-tokens.ts';
import { Vocabulary } from '../tokens/vocabulary.ts';
import { vocabularyData } from '../../../frontend/decoders/reader/vocabulary-data.ts';
import type { JsonSchema } from './schema-types.ts';

const TOKENS = randomTokens(4000, 3);
const VOCABULARY = new Vocabulary(
  vocabularyData([...TOKENS, undefined], { endTokens: [TOKENS.length] }),
);

const object = (properties: Record<string, JsonSchema>, required = Object.keys(properties)) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const;

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  anything: true,
  'any object': { type: 'object' },
  'several types': { type: ['integer', 'null', 'boolean', 'string'] },
  lengths: object({
    a: { type: 'string', minLength: 3, maxLength: 5 },
    b: { type: 'string', maxLength: 1 },
    c: { type: 'string', minLength: 12 },
  }),
  patterns: object({
    a: { type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' },
    b: { type: 'string', pattern: 'x"|\\\\a|ax' },
    c: { type: 'string', pattern: '^[^a-z]{0,4}$' },
  }),
  formats: object(
    Object.fromEntries(
      ['date', 'time', 'date-time', 'uuid', 'email', 'ipv4'].map((format) => [
        format,
        { type: 'string', format },
      ]),
    ),
  ),
  integers: {
    type: 'array',
    minItems: 3,
    items: { type: 'integer', minimum: -120, exclusiveMaximum: 1035 },
  },
  'numbers from one side': {
    type: 'array',
    minItems: 3,
    items: { type: 'number', exclusiveMinimum: 0 },
  },
  'numbers from both sides': {
    type: 'array',
    minItems: 3,
    items: { type: 'number', minimum: -3, exclusiveMaximum: 12 },
  },
  'optional properties': object({ a: true, b: { type: 'boolean' }, c: { type: 'null' } }, ['b']),
  'additional properties': {
    type: 'object',
    properties: { name: { type: 'null' }, 'na"me': { type: 'null' } },
    required: ['name', 'other'],
    additionalProperties: { type: 'integer' },
  },
  tuples: {
    type: 'array',
    prefixItems: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }],
    items: { type: 'string' },
    minItems: 2,
    maxItems: 5,
  },
  values: object({ a: { enum: ['x', 1, null, { y: [] }] }, b: { const: 'é"' } }),
  alternatives: {
    anyOf: [object({ a: { type: 'integer' } }), { type: 'string', maxLength: 3 }, { type: 'null' }],
  },
  'alternatives beside keywords': {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'null' } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  'exclusive alternatives': {
    oneOf: [
      object({ kind: { const: 'circle' }, radius: { type: 'number' } }),
      object({ kind: { const: 'square' }, side: { type: 'number' } }),
    ],
  },
  'schemas together': {
    allOf: [
      { $ref: '#/$defs/named' },
      { properties: { size: { type: 'integer', minimum: 3 } }, required: ['size'] },
      { properties: { size: { maximum: 12 } } },
    ],
    $defs: {
      named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
  'a list that refers to itself': {
    $ref: '#/$defs/node',
    $defs: {
      node: object({
        value: { type: 'integer' },
        next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] },
      }),
    },
  },
  'a tree': object({ name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } }),
};

test.each(Object.keys(SCHEMAS))(
  'texts of random tokens are JSON that has the schema: %s',
  (name) => {
    const schema = SCHEMAS[name] ?? false;
    const random = seededRandom(5);
    for (const space of ['none', 'pretty'] as const) {
      const grammar = compileGrammar({ schema, space }, VOCABULARY);
      for (let i = 0; i < 8; i++) {
        const text = randomText(grammar, random, 8 * i);
        const value: unknown = JSON.parse(text);
        expect(findViolation(value, schema)).toBeUndefined();
        if (space === 'none') expect(text).not.toMatch(/^[{[]\s|[^\\]\n/);
      }
    }
  },
);

/** Values in compact JSON that a schema allows and that it does not. */
const VALUES: readonly [
  name: string,
  schema: JsonSchema,
  allowed: unknown[],
  refused: unknown[],
][] = [
  [
    'the order of properties',
    object({ a: true, b: true }),
    [{ a: 1, b: 'x' }],
    [{ b: 1, a: 1 }, { a: 1 }],
  ],
  ['a closed object', { properties: { a: true } }, [{}, { a: 1 }], [{ b: 1 }, { a: 1, b: 2 }]],
  [
    'an open object',
    { properties: { a: { type: 'null' } }, additionalProperties: true },
    [{ a: null, b: 1, é: 2 }, { aa: 1 }],
    [{ a: 1 }],
  ],
  [
    'lists of any length',
    { items: { items: { type: 'null' }, minItems: 1 } },
    [[], [[null]], [[null, null], [null]]],
    [[[]], [1], null],
  ],
  ['closed tuples', { prefixItems: [true, true] }, [[], [1], [1, 2]], [[1, 2, 3]]],
  [
    'code points',
    { type: 'string', minLength: 2, maxLength: 2 },
    ['😀😀', 'é"', '\n\\'],
    ['😀', 'abc'],
  ],
  [
    'integers',
    { type: 'integer', minimum: -12, maximum: 305 },
    [-12, -9, 0, 7, 99, 100, 305],
    [-13, 306, 1000, 1.5],
  ],
  [
    'numbers',
    { type: 'number', minimum: 0, exclusiveMaximum: 2 },
    [0, 0.5, 1, 1.999],
    [-0.1, 2, 2.5, 10],
  ],
  [
    'a bound that is excluded and allowed is excluded',
    { type: 'integer', minimum: 5, exclusiveMinimum: 5, maximum: 9, exclusiveMaximum: 9 },
    [6, 7, 8],
    [5, 9, 4, 10],
  ],
  [
    'the tighter of two bounds counts',
    { type: 'integer', minimum: 6, exclusiveMinimum: 4, maximum: 7, exclusiveMaximum: 9 },
    [6, 7],
    [5, 8, 9],
  ],
  [
    'leap years',
    { format: 'date' },
    ['2024-02-29', '2000-02-29', '1999-12-31'],
    ['2023-02-29', '1900-02-29', '2024-04-31', '2024-13-01'],
  ],
  ['a pattern anywhere', { type: 'string', pattern: 'b+c' }, ['bc', 'aabbcd'], ['ac', 'b']],
  ['enum and type', { type: 'integer', enum: [1, 'a', 2] }, [1, 2], ['a', 3]],
];

test.each(VALUES)('what is allowed and refused: %s', (_, schema, allowed, refused) => {
  const grammar = compileGrammar({ schema }, VOCABULARY);
  const isAllowed = (value: unknown): boolean => {
    const matcher = grammar.start();
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    // The first tokens are the bytes.
    return bytes.every((byte) => matcher.accept(byte)) && matcher.isComplete;
  };
  expect(allowed.filter((value) => !isAllowed(value))).toEqual([]);
  expect(refused.filter(isAllowed)).toEqual([]);
});

test.each<[schema: JsonSchema, text: string]>([
  [true, '[,1]'],
  [{ items: true }, '[,1]'],
  [{ additionalProperties: true }, '{,"a":1}'],
])('a list begins with no comma: %j', (schema, text) => {
  const matcher = compileGrammar({ schema }, VOCABULARY).start();
  const bytes = new TextEncoder().encode(text);
  expect(bytes.every((byte) => matcher.accept(byte))).toBe(false);
});

test.each<[message: string, schema: JsonSchema]>([
  [
    '#/properties/a~1b/uniqueItems: got the keyword uniqueItems, expected a supported one.',
    object({ 'a/b': { type: 'array', uniqueItems: true } }),
  ],
  ['#/not: got the keyword not, expected a supported one.', { not: {} }],
  ['#/items/type: got "text", expected one or some of object', { items: { type: 'text' } }],
  ['#/minLength: got -1, expected a count.', { type: 'string', minLength: -1 }],
  [
    '#/minLength: got 3, expected at most maxLength, 2.',
    { type: 'string', minLength: 3, maxLength: 2 },
  ],
  ['#/minItems: got 3, expected at most 2', { type: 'array', minItems: 3, maxItems: 2 }],
  [
    '#/format: got the format hostname, expected one of date, time',
    { type: 'string', format: 'hostname' },
  ],
  [
    '#/maxLength: got maxLength beside pattern, expected one of them.',
    { pattern: 'a', maxLength: 3 },
  ],
  ['#/pattern:1:2: got (?=, expected groups without lookaround or flags.', { pattern: 'a(?=b)' }],
  [
    '#/minimum: got the bound 0.5 of a number, expected an integer.',
    { type: 'number', minimum: 0.5 },
  ],
  [
    '#: got no number from 5 to 4, expected at least one.',
    { type: 'integer', minimum: 5, maximum: 4 },
  ],
  [
    '#: got no number from 1e+21 to Infinity, expected at least one.',
    { type: 'number', minimum: 1e21 },
  ],
  ['#/$ref: got the reference other.json, expected one into this schema', { $ref: 'other.json' }],
  ['#/$ref: got "#/$defs/none", expected a pointer to a schema, #/…', { $ref: '#/$defs/none' }],
  [
    '#/oneOf: got alternatives 0 and 1, which a value may have both',
    { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  ],
  [
    'got two different values of pattern that have to hold both, expected one.',
    { allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
  ],
  [
    '#/allOf/0/type: got string, beside a schema with null',
    { allOf: [{ type: 'string' }, { type: 'null' }] },
  ],
  ['#: got no value of its type, expected at least one.', { type: 'string', enum: [1] }],
  ['#/required: got "b", which may have no value', object({ a: true }, ['a', 'b'])],
  ['grammar: got rules that no text can satisfy', object({ self: { $ref: '#' } })],
  [
    'rule #: got a rule that begins with itself (# → #)',
    { anyOf: [{ $ref: '#' }, { type: 'null' }] },
  ],
])('refused with the place: %s', (message, schema) => {
  expect(() => compileGrammar({ schema }, VOCABULARY)).toThrow(message);
});

test('schemas that are too deep are refused, and long bounds cost nothing', () => {
  let schema: JsonSchema = { type: 'null' };
  for (let i = 0; i < 200; i++) schema = { type: 'array', items: schema };
  expect(() => compileGrammar({ schema }, VOCABULARY)).toThrow(
    'got one more, expected at most 100 schemas inside each other.',
  );
  const links = Array.from({ length: 1000 }, (_, i) => [`${i}`, { $ref: `#/$defs/${i + 1}` }]);
  const chain = { $ref: '#/$defs/0', $defs: { ...Object.fromEntries(links), 1000: { const: 1 } } };
  expect(compileGrammar({ schema: chain }, VOCABULARY).start().accept(0x31)).toBe(true);
  const long = { type: 'string', minLength: 1e9, maxLength: 2e9 };
  expect(compileGrammar({ schema: long }, VOCABULARY).start().accept(0x22)).toBe(true);
  const many = { type: 'array', items: { type: 'integer' }, maxItems: 1e9 };
  expect(() => compileGrammar({ schema: many }, VOCABULARY)).toThrow(
    'with repetitions written out',
  );
});
