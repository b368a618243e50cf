import { compileGrammar } from '../../src/text/grammar/compile-grammar.ts';
import { Vocabulary } from '../../src/text/grammar/tokens/vocabulary.ts';
import { vocabularyData } from '../../src/frontend/decoders/reader/vocabulary-data.ts';
import { randomTokens } from '../../src/text/grammar/testing/random-tokens.ts';
import type { MachineFigure } from '../page/machine-steps.ts';
import type { JsonSchema } from '../../src/text/grammar/schema/schema-types.ts';

/** Numbers of tokens of vocabularies. */
const GRAMMAR_SIZES = [32_000, 128_000];
/** New grammars, each of which reads the documents once. */
const GRAMMAR_COUNT = 7;

/**
 * Times constrained output: a schema of 20 fields, over documents cut into the longest tokens. A
 * token is a mask and its acceptance. Each of several new grammars reads the documents once, so states
 * are reached for the first time; of these the fastest counts for each token and for compiling,
 * because other processes interrupt.
 */
export async function measure(): Promise<MachineFigure[]> {
  return GRAMMAR_SIZES.flatMap((size) => timeGrammars(`${size} tokens`, randomTokens(size - 1, 1)));
}

/** The most that it may take is promised. */
function timeGrammars(title: string, tokens: readonly Uint8Array[]): MachineFigure[] {
  const start = performance.now();
  const vocabulary = new Vocabulary(
    vocabularyData([...tokens, undefined], { endTokens: [tokens.length] }),
  );
  const vocabularyMs = performance.now() - start;
  const ids = documentTokens(vocabulary);
  const mask = new Uint32Array(vocabulary.maskLength);
  const compileMs: number[] = [];
  const fastestUs: number[] = [];
  for (let i = 0; i < GRAMMAR_COUNT; i++) {
    const before = performance.now();
    const grammar = compileGrammar({ schema: PERSON_SCHEMA }, vocabulary);
    compileMs.push(performance.now() - before);
    let at = 0;
    for (const document of ids) {
      const matcher = grammar.start();
      for (const id of document) {
        const start = performance.now();
        matcher.mask(mask);
        const isAccepted = matcher.accept(id);
        const us = 1000 * (performance.now() - start);
        fastestUs[at] = Math.min(fastestUs[at] ?? us, us);
        at++;
        if (!isAccepted) throw new Error(`token ${id} of a document is not allowed`);
      }
    }
  }
  fastestUs.sort((a, b) => a - b);
  const us = (share: number) => fastestUs[Math.floor(share * (fastestUs.length - 1))] ?? NaN;
  const [first = NaN] = compileMs;
  return [
    { what: `${title}: vocabulary`, value: vocabularyMs, unit: 'ms' },
    { what: 'the first grammar', value: first, unit: 'ms' },
    { what: 'a grammar', value: Math.min(...compileMs), unit: 'ms', most: 300 },
    { what: 'a token, median', value: us(0.5), unit: 'us', most: 20 },
    { what: 'a token, 99%', value: us(0.99), unit: 'us', most: 500 },
    { what: 'a token, longest', value: us(1), unit: 'us', most: 3000 },
  ];
}

const documentTokens = (vocabulary: Vocabulary): number[][] =>
  PEOPLE.map((value) => longestTokens(JSON.stringify(value), vocabulary));

function longestTokens(text: string, vocabulary: Vocabulary): number[] {
  const bytes = new TextEncoder().encode(text);
  const ids: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { token, length } = vocabulary.longestToken(bytes.subarray(at));
    if (token === undefined) throw new Error('a byte has no token');
    ids.push(token);
    at += length;
  }
  return ids;
}

const text = { type: 'string' };
const address = {
  type: 'object',
  properties: {
    street: text,
    city: { type: 'string', maxLength: 60 },
    code: { type: 'string', pattern: '^[0-9]{5}$' },
  },
  required: ['street', 'city', 'code'],
  additionalProperties: false,
};

const properties = {
  id: { type: 'string', format: 'uuid' },
  name: { type: 'string', minLength: 1, maxLength: 80 },
  nickname: { type: ['string', 'null'] },
  email: { type: 'string', format: 'email' },
  age: { type: 'integer', minimum: 0, maximum: 150 },
  height: { type: 'number' },
  isActive: { type: 'boolean' },
  role: { enum: ['admin', 'editor', 'reader', 'guest'] },
  born: { type: 'string', format: 'date' },
  seen: { type: 'string', format: 'date-time' },
  biography: text,
  tags: { type: 'array', items: text, maxItems: 8 },
  scores: { type: 'array', items: { type: 'integer' } },
  home: address,
  work: address,
  languages: { type: 'array', items: { enum: ['de', 'en', 'fr', 'ja'] } },
  website: { type: 'string', maxLength: 200 },
  friends: {
    type: 'array',
    items: {
      type: 'object',
      properties: { name: text, since: { type: 'integer' } },
      required: ['name', 'since'],
      additionalProperties: false,
    },
  },
  parent: {
    anyOf: [
      { type: 'null' },
      {
        type: 'object',
        properties: { name: text, age: { type: 'integer' } },
        required: ['name', 'age'],
        additionalProperties: false,
      },
    ],
  },
  notes: text,
};

/** A schema of 20 fields: strings with and without bounds, patterns, formats, numbers, arrays, objects. */
const PERSON_SCHEMA: JsonSchema = {
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
};

/** Values of that schema. */
const PEOPLE: readonly unknown[] = [
  {
    id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    name: 'Márta Szőke',
    nickname: null,
    email: 'marta.szoke@example.org',
    age: 41,
    height: 1.72,
    isActive: true,
    role: 'editor',
    born: '1984-02-29',
    seen: '2026-11-26T10:15:30Z',
    biography:
      'Grew up in Pécs, studied botany, and wrote "The Lichens of the Mecsek" (2012).\nHer garden has 340 species; some of them came from 日本 by post. 🌿',
    tags: ['botany', 'writing', 'travel & maps', 'unpublished-work'],
    scores: [12, 7, 1999, 0, -4],
    home: { street: 'Király utca 14', city: 'Pécs', code: '76210' },
    work: { street: '48 Herbarium Road', city: 'London', code: '00931' },
    languages: ['de', 'en', 'ja'],
    website: 'https://www.example.org/people/marta-szoke?tab=papers&sort=year#2012',
    friends: [
      { name: 'Jean-Luc Ferrand', since: 1999 },
      { name: 'Ayşe Öztürk', since: 2015 },
    ],
    parent: { name: 'Ilona Szőke', age: 70 },
    notes:
      'Prefers letters. Do not call before 10 o’clock; see the file C:\\people\\marta.txt for more.',
  },
  {
    id: '00000000-0000-4000-8000-0123456789ab',
    name: 'Q',
    nickname: 'quartermaster',
    email: 'q@mi6.gov.uk',
    age: 0,
    height: -0.25e-3,
    isActive: false,
    role: 'guest',
    born: '2000-12-31',
    seen: '1999-01-01T23:59:59.123+05:30',
    biography: '',
    tags: [],
    scores: [],
    home: { street: '', city: '', code: '12345' },
    work: { street: 'a', city: 'b', code: '00000' },
    languages: [],
    website: '',
    friends: [],
    parent: null,
    notes:
      'The quick brown fox jumps over the lazy dog, and so on, and so forth, for as long as it takes.',
  },
];
