import { UsageError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { type Expression, type ListItem, listOf, rule, text } from '../expression.ts';
import { ANY_OBJECT, type JsonLayout } from './json-layout.ts';
import { jsonStringExcept } from './json-string.ts';
import type { JsonSchema, SchemaObject } from './schema-types.ts';
import type { SchemaDocument } from './schema-document.ts';

/** Steps for a property. */
const WORK = 200;

/** Objects: the listed properties in their order, then additional ones. */
export function compileObject(schema: SchemaObject, context: SchemaContext): Expression {
  const { document, layout } = context;
  const properties = new Map(document.propertiesOf(schema));
  countWork(WORK * properties.size);
  const required = new Set(document.requiredOf(schema));
  const additional = additionalProperties(schema, context);
  for (const name of required) {
    if (!properties.has(name)) properties.set(name, additional);
  }
  if (properties.size === 0 && additional === true) return rule(ANY_OBJECT);
  const items: ListItem[] = [];
  for (const [name, value] of properties) {
    const isRequired = required.has(name);
    if (value === false) {
      if (isRequired) throw noValue(schema, name, context);
      continue;
    }
    const key = text(JSON.stringify(name));
    items.push({ body: layout.member(key, context.value(value, schema)), isRequired });
  }
  if (additional !== false) {
    const key = jsonStringExcept([...properties.keys()]);
    const member = layout.member(key, context.value(additional, schema));
    items.push({ body: layout.separated(member, 1), isRequired: false });
  }
  return layout.bracketed('{}', listOf(items, layout.comma));
}

/** Where the keyword is missing, an object with listed properties has no others. */
function additionalProperties(schema: SchemaObject, { document }: SchemaContext): JsonSchema {
  const given = document.schemaAt(schema, 'additionalProperties');
  return given ?? !Object.hasOwn(schema, 'properties');
}

function noValue(schema: SchemaObject, name: string, { document }: SchemaContext): UsageError {
  return new UsageError({
    where: document.pointer(schema, 'required'),
    got: `${JSON.stringify(name)}, which may have no value`,
    expected: 'properties that are listed, or additionalProperties',
  });
}

/** The compiler as the parts of it see it that compile types which contain others. */
export interface SchemaContext {
  readonly document: SchemaDocument;
  readonly layout: JsonLayout;
  /** The values of a schema; a boolean one has its place from the schema around it. */
  value(schema: JsonSchema, holder: SchemaObject): Expression;
  /** The same, as a rule of its own, for what would be written out many times. */
  sharedValue(schema: JsonSchema, holder: SchemaObject): Expression;
}
