import type { JsonSchema } from '../../src/text/grammar/schema/schema-types.ts';

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
export const PERSON_SCHEMA: JsonSchema = {
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
};

/** Values of that schema. */
export const PEOPLE: readonly unknown[] = [
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
