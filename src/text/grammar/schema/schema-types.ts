import { countWork } from '../../../core/limits/work-meter.ts';

/** A JSON schema as an object; its keywords are checked before they are used. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A JSON schema: an object with keywords, `true` (anything) or `false` (nothing). */
export type JsonSchema = SchemaObject | boolean;

export const TYPE_NAMES = [
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
] as const;
export type TypeName = (typeof TYPE_NAMES)[number];

/** Keywords that say something about texts, by the type that they are about. */
const KEYWORDS_OF_TYPE = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
} as const;

const OTHER_KEYWORDS = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'];

/** Keywords that say nothing about texts. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  (
    '$schema $id $comment $defs definitions title description default ' +
    'example examples deprecated readOnly writeOnly'
  ).split(' '),
);

export const CONSTRAINTS: ReadonlySet<string> = new Set([
  ...OTHER_KEYWORDS,
  ...Object.values(KEYWORDS_OF_TYPE).flat(),
]);

/** The types that a schema is about by its keywords, where it does not name any. */
export function typesByKeywords(schema: SchemaObject): TypeName[] {
  return Object.entries(KEYWORDS_OF_TYPE)
    .filter(([, keywords]) => keywords.some((keyword) => Object.hasOwn(schema, keyword)))
    .map(([type]) => type as keyof typeof KEYWORDS_OF_TYPE);
}

/** The JSON of a value, whose letters count as work. */
export function jsonOf(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  countWork(10 + json.length / 8);
  return json;
}

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a JSON value; whole numbers are integers. */
export function typeOfValue(value: unknown): TypeName | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  const type = typeof value;
  return type === 'object' || type === 'string' || type === 'boolean' ? type : undefined;
}

/** Returns true if a list of types allows values of `type`: numbers include integers. */
export function hasType(types: readonly TypeName[], type: TypeName | undefined): boolean {
  if (type === undefined) return false;
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}
