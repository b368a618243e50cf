import { UsageError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { SchemaDocument } from './schema-document.ts';
import {
  ANNOTATIONS,
  hasType,
  jsonOf,
  type JsonSchema,
  type SchemaObject,
  type TypeName,
} from './schema-types.ts';

/** How the values of a keyword in two schemas become one that says both. */
type MergeRule = (a: never, b: never) => unknown;

const larger = (a: number, b: number): number => Math.max(a, b);
const smaller = (a: number, b: number): number => Math.min(a, b);

const MERGE_RULES: Readonly<Record<string, MergeRule>> = {
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  required: (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])],
  enum: (a: readonly unknown[], b: readonly unknown[]) => {
    const known = new Set(b.map(jsonOf));
    return a.filter((value) => known.has(jsonOf(value)));
  },
  items: (a: JsonSchema, b: JsonSchema) => ({ allOf: [a, b] }),
};

/**
 * One schema that says what two say. Throws UnsupportedError for keywords that cannot be one, such as
 * two patterns, and UsageError for types that exclude each other.
 */
export function mergeSchemas(
  a: SchemaObject,
  b: SchemaObject,
  document: SchemaDocument,
): SchemaObject {
  for (const schema of [a, b]) {
    document.requiredOf(schema);
    document.valuesOf(schema);
  }
  const merged: Record<string, unknown> = { ...withoutAnnotations(a) };
  for (const [keyword, value] of Object.entries(withoutAnnotations(b))) {
    const other = merged[keyword];
    if (other === undefined || other === value || jsonOf(other) === jsonOf(value)) {
      merged[keyword] = value;
      continue;
    }
    const rule = MERGE_RULES[keyword];
    if (rule !== undefined) {
      merged[keyword] = rule(other as never, value as never);
    } else if (
      keyword !== 'type' &&
      keyword !== 'properties' &&
      keyword !== 'additionalProperties'
    ) {
      const got = `two different values of ${keyword} that have to hold both`;
      throw document.unsupported(b, keyword, got, 'one');
    }
  }
  const types = mergeTypes(a, b, document);
  if (types !== undefined) merged['type'] = types;
  Object.assign(merged, mergeProperties(a, b, document));
  return document.derive(merged, a);
}

function withoutAnnotations(schema: SchemaObject): SchemaObject {
  const constraints = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  return Object.fromEntries(constraints);
}

function mergeTypes(
  a: SchemaObject,
  b: SchemaObject,
  document: SchemaDocument,
): readonly TypeName[] | undefined {
  const [first, second] = [document.typesOf(a), document.typesOf(b)];
  if (first === undefined || second === undefined) return first ?? second;
  const both = [
    ...first.filter((type) => hasType(second, type)),
    ...second.filter((type) => hasType(first, type) && !first.includes(type)),
  ];
  if (both.length > 0) return both;
  throw new UsageError({
    where: document.pointer(b, 'type'),
    got: `${second.join(', ')}, beside a schema with ${first.join(', ')}`,
    expected: 'a type that both allow',
  });
}

function mergeProperties(a: SchemaObject, b: SchemaObject, document: SchemaDocument): SchemaObject {
  const properties = new Map(document.propertiesOf(a));
  countWork(30 * properties.size);
  const ofB = new Map(document.propertiesOf(b));
  const additional = [a, b].map((schema) => document.schemaAt(schema, 'additionalProperties'));
  const [additionalOfA, additionalOfB] = additional;
  for (const [name, schema] of properties) {
    const other = ofB.get(name) ?? additionalOfB;
    if (other !== undefined) properties.set(name, bothOf(schema, other));
  }
  for (const [name, schema] of ofB) {
    if (properties.has(name)) continue;
    properties.set(name, additionalOfA === undefined ? schema : bothOf(additionalOfA, schema));
  }
  const merged: Record<string, unknown> = {};
  if (properties.size > 0) merged['properties'] = Object.fromEntries(properties);
  if (additionalOfA !== undefined || additionalOfB !== undefined) {
    merged['additionalProperties'] = bothOf(additionalOfA ?? true, additionalOfB ?? true);
  }
  return merged;
}

function bothOf(a: JsonSchema, b: JsonSchema): JsonSchema {
  if (a === true || b === false) return b;
  if (b === true || a === false) return a;
  return a === b ? a : { allOf: [a, b] };
}
