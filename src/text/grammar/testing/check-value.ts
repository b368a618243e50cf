import { isSchemaObject, type JsonSchema, type SchemaObject } from '../schema/schema-types.ts';

/** The first place where a value does not have a schema, or undefined. Written apart from the compiler. */
export function findViolation(
  value: unknown,
  schema: JsonSchema,
  root = schema,
): string | undefined {
  if (typeof schema === 'boolean') return schema ? undefined : 'false';
  for (const [keyword, argument] of Object.entries(schema)) {
    const check = CHECKS[keyword];
    if (check === undefined) {
      if (keyword === '$defs') continue;
      throw new Error(`no check of ${keyword}`);
    }
    const isMet = check(value, argument as never, {
      schema,
      has: (value, schema) => findViolation(value, schema, root) === undefined,
      resolve: (ref) => resolve(root, ref),
    });
    if (!isMet) return `${JSON.stringify(value)} has not ${keyword} ${JSON.stringify(argument)}`;
  }
  return undefined;
}

interface CheckContext {
  readonly schema: SchemaObject;
  readonly has: (value: unknown, schema: JsonSchema) => boolean;
  readonly resolve: (ref: string) => JsonSchema;
}

type Check = (value: unknown, argument: never, context: CheckContext) => boolean;

const isNumber = (value: unknown): value is number => typeof value === 'number';
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isSchemaObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => isNumber(value) && Number.isFinite(value),
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => /^\d\d:\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(`2000-01-01T${text}`)),
  'date-time': (text) => isDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)),
  uuid: (text) => /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(text),
  email: (text) => text.split('@').length === 2 && !/\s|\.\.|@[.-]|[.-]$/.test(text),
  ipv4: (text) =>
    text.split('.').every((part) => String(Number(part)) === part && Number(part) < 256),
};

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value, types: string | string[]) =>
    [types].flat().some((type) => TYPES[type]?.(value) ?? false),
  enum: (value, values: unknown[]) => values.some((other) => same(other, value)),
  const: (value, other) => same(value, other),
  anyOf: (value, schemas: JsonSchema[], { has }) => schemas.some((schema) => has(value, schema)),
  allOf: (value, schemas: JsonSchema[], { has }) => schemas.every((schema) => has(value, schema)),
  oneOf: (value, schemas: JsonSchema[], { has }) =>
    schemas.filter((schema) => has(value, schema)).length === 1,
  $ref: (value, ref: string, { has, resolve }) => has(value, resolve(ref)),
  properties: (value, properties: Record<string, JsonSchema>, { has }) =>
    !isSchemaObject(value) ||
    Object.entries(properties).every(
      ([name, schema]) => !Object.hasOwn(value, name) || has(value[name], schema),
    ),
  required: (value, names: string[]) =>
    !isSchemaObject(value) || names.every((name) => Object.hasOwn(value, name)),
  additionalProperties: (value, additional: JsonSchema, { has, schema }) =>
    !isSchemaObject(value) ||
    Object.keys(value)
      .filter((name) => !Object.hasOwn((schema['properties'] as object | undefined) ?? {}, name))
      .every((name) => has(value[name], additional)),
  items: (value, items: JsonSchema, { has, schema }) =>
    !Array.isArray(value) ||
    value
      .slice((schema['prefixItems'] as unknown[] | undefined)?.length ?? 0)
      .every((item) => has(item, items)),
  prefixItems: (value, items: JsonSchema[], { has }) =>
    !Array.isArray(value) || value.every((item, i) => has(item, items[i] ?? true)),
  minItems: (value, count: number) => !Array.isArray(value) || value.length >= count,
  maxItems: (value, count: number) => !Array.isArray(value) || value.length <= count,
  minLength: (value, count: number) =>
    typeof value !== 'string' || Array.from(value).length >= count,
  maxLength: (value, count: number) =>
    typeof value !== 'string' || Array.from(value).length <= count,
  pattern: (value, pattern: string) =>
    typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  format: (value, format: string) =>
    typeof value !== 'string' || (FORMATS[format]?.(value) ?? false),
  minimum: (value, bound: number) => !isNumber(value) || value >= bound,
  maximum: (value, bound: number) => !isNumber(value) || value <= bound,
  exclusiveMinimum: (value, bound: number) => !isNumber(value) || value > bound,
  exclusiveMaximum: (value, bound: number) => !isNumber(value) || value < bound,
};

function resolve(root: JsonSchema, ref: string): JsonSchema {
  let target: unknown = root;
  for (const key of ref.split('/').slice(1)) target = (target as SchemaObject)[key];
  return target as JsonSchema;
}
