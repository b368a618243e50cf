import { PERSON_SCHEMA } from '../../../../bench/text/person-schema.ts';
import type { JsonSchema, SchemaObject } from '../../../../src/text/grammar/schema/schema-types.ts';

const closed = (properties: Readonly<Record<string, JsonSchema>>): SchemaObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Schemas whose values a model of 256 positions has room for. */
export const SHORT_SCHEMAS: Readonly<Record<string, SchemaObject>> = {
  'a story': closed({
    who: { enum: ['Mia', 'Tom'] },
    where: { type: 'string', minLength: 2, maxLength: 12 },
    isHappy: { type: 'boolean' },
    steps: { type: 'integer', minimum: 1, maximum: 20 },
  }),
  'a list': {
    type: 'array',
    minItems: 1,
    maxItems: 3,
    items: {
      anyOf: [{ type: 'null' }, closed({ n: { type: 'integer', minimum: -9, maximum: 99 } })],
    },
  },
  'patterns and formats': closed({
    code: { type: 'string', pattern: '^[A-C][0-9]{2,4}$' },
    day: { type: 'string', format: 'date' },
    by: { type: ['string', 'null'], maxLength: 6 },
  }),
};

const SHORT_EMAIL = { type: 'string', pattern: '^[a-z.]{1,9}@[a-z]{2,9}[.](com|org)$' };
const MOST = { string: { maxLength: 10 }, array: { maxItems: 3 } } as const;

/** The schema of 20 fields with an end to each string, list and number, which a model of random weights hardly finds by itself. */
export const BOUNDED_PERSON = bounded(PERSON_SCHEMA) as SchemaObject;

function bounded(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema;
  if (schema['format'] === 'email') return SHORT_EMAIL;
  const parts = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    boundedPart(keyword, value),
  ]);
  const own = Object.fromEntries(parts) as Exclude<JsonSchema, boolean>;
  const types = [own['type']].flat();
  const isFree = !('format' in own) && !('pattern' in own);
  return {
    ...own,
    ...(types.includes('string') && isFree && MOST.string),
    ...(types.includes('array') && MOST.array),
    ...(types.includes('integer') && !('minimum' in own) && { minimum: -99, maximum: 9999 }),
  };
}

function boundedPart(keyword: string, value: unknown): unknown {
  if (keyword === 'items') return bounded(value as JsonSchema);
  if (keyword === 'anyOf') return (value as readonly JsonSchema[]).map(bounded);
  if (keyword !== 'properties') return value;
  const all = Object.entries(value as Readonly<Record<string, JsonSchema>>);
  return Object.fromEntries(all.map(([name, schema]) => [name, bounded(schema)]));
}
