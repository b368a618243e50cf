import { countWork } from '../../../core/limits/work-meter.ts';
import type { SchemaDocument } from './schema-document.ts';
import {
  hasType,
  isSchemaObject,
  type JsonSchema,
  type SchemaObject,
  typeOfValue,
  typesByKeywords,
} from './schema-types.ts';

/** Properties of properties that are compared. */
const MAX_DEPTH = 4;

/**
 * Returns true if it is evident that no value has both schemas: their types or values differ, or
 * those of a property that both require.
 */
export function areDisjoint(
  a: JsonSchema,
  b: JsonSchema,
  { document, depth = 0 }: { readonly document: SchemaDocument; readonly depth?: number },
): boolean {
  if (depth > MAX_DEPTH) return false;
  countWork(4);
  const [first, second] = [resolved(a, document), resolved(b, document)];
  if (!isSchemaObject(first) || !isSchemaObject(second)) return first === false || second === false;
  const values = valuesOf(first);
  const otherValues = valuesOf(second);
  if (values !== undefined && otherValues !== undefined) {
    countWork(values.length + otherValues.length);
    const known = new Set(values.map((value) => JSON.stringify(value)));
    if (!otherValues.some((value) => known.has(JSON.stringify(value)))) return true;
  }
  const [types, otherTypes] = [possibleTypes(first, document), possibleTypes(second, document)];
  if (types.length > 0 && otherTypes.length > 0) {
    const isShared = (type: (typeof types)[number]) => hasType(otherTypes, type);
    if (!types.some(isShared) && !otherTypes.some((type) => hasType(types, type))) return true;
    if (types.some((type) => type !== 'object')) return false;
  }
  const properties = new Map(document.propertiesOf(first));
  const required = new Set(document.requiredOf(first));
  const otherRequired = new Set(document.requiredOf(second));
  countWork(properties.size + required.size + otherRequired.size);
  return document.propertiesOf(second).some(([name, schema]) => {
    const other = properties.get(name);
    const isRequired = required.has(name) && otherRequired.has(name);
    countWork();
    const deeper = { document, depth: depth + 1 };
    return isRequired && other !== undefined && areDisjoint(other, schema, deeper);
  });
}

/** Follows references, but not for ever. */
function resolved(schema: JsonSchema, document: SchemaDocument): JsonSchema {
  let target = schema;
  for (let i = 0; i < 10 && isSchemaObject(target) && target['$ref'] !== undefined; i++) {
    target = document.resolve(target).target;
  }
  return target;
}

function valuesOf(schema: SchemaObject): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']];
  const values = schema['enum'];
  return Array.isArray(values) ? values : undefined;
}

function possibleTypes(schema: SchemaObject, document: SchemaDocument) {
  const values = valuesOf(schema);
  if (values === undefined) return document.typesOf(schema) ?? typesByKeywords(schema);
  return [...new Set(values.map(typeOfValue))].filter((type) => type !== undefined);
}
