import { ParseError, UnsupportedError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import {
  ANNOTATIONS,
  CONSTRAINTS,
  isSchemaObject,
  type JsonSchema,
  type SchemaObject,
  TYPE_NAMES,
  type TypeName,
} from './schema-types.ts';

/** Lists and objects inside each other, in values too. */
const MAX_DEPTH = 500;
/** Steps for each of them. */
const WORK = 40;

/** A schema with all schemas in it, whose places are known for messages. */
export class SchemaDocument {
  readonly root: JsonSchema;
  readonly #pointers = new Map<object, string>();
  readonly #ids = new Map<object, number>();

  constructor(root: JsonSchema) {
    this.root = root;
    const pending: [pointer: string, value: unknown, depth: number][] = [['#', root, 0]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [pointer, value, depth] = next;
      if (typeof value !== 'object' || value === null || this.#pointers.has(value)) continue;
      if (depth > MAX_DEPTH) {
        const expected = `at most ${MAX_DEPTH} lists and objects inside each other`;
        throw new UnsupportedError({ where: pointer, got: 'one more', expected });
      }
      this.#pointers.set(value, pointer);
      countWork(WORK);
      for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
        if (typeof part !== 'object') continue;
        pending.push([`${pointer}/${escape(String(key))}`, part, depth + 1]);
      }
    }
  }

  pointer(schema: SchemaObject, keyword?: string): string {
    const pointer = this.#pointers.get(schema) ?? '#';
    return keyword === undefined ? pointer : `${pointer}/${escape(keyword)}`;
  }

  /** A number that tells a schema from others. */
  idOf(schema: SchemaObject): number {
    const id = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }

  /** Gives a schema that was made of others the place of one of them. */
  derive(schema: SchemaObject, from: SchemaObject): SchemaObject {
    this.#pointers.set(schema, this.pointer(from));
    return schema;
  }

  /** The schema that a `$ref` names. Throws UnsupportedError for other documents, ParseError for no schema. */
  resolve(schema: SchemaObject): { pointer: string; target: JsonSchema } {
    const ref = schema['$ref'];
    if (typeof ref !== 'string') throw this.invalid(schema, '$ref', 'a text');
    if (!ref.startsWith('#')) {
      throw this.unsupported(schema, '$ref', `the reference ${ref}`, 'one into this schema, #/…');
    }
    let target: unknown = this.root;
    for (const part of ref.slice(1).split('/').slice(1)) {
      const key = percentDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const holder: unknown = target;
      target =
        typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
          ? (holder as SchemaObject)[key]
          : undefined;
    }
    const isPointer = ref === '#' || ref.startsWith('#/');
    if (!isPointer || (typeof target !== 'boolean' && !isSchemaObject(target))) {
      throw this.invalid(schema, '$ref', 'a pointer to a schema, #/…');
    }
    return { pointer: ref, target };
  }

  /** Throws UnsupportedError for a keyword that says something about texts and is not one of ours. */
  requireKeywords(schema: SchemaObject): void {
    for (const keyword of Object.keys(schema)) {
      if (ANNOTATIONS.has(keyword) || CONSTRAINTS.has(keyword)) continue;
      if (keyword === 'uniqueItems' && schema[keyword] === false) continue;
      throw this.unsupported(schema, keyword, `the keyword ${keyword}`, 'a supported one');
    }
  }

  schemaAt(schema: SchemaObject, keyword: string): JsonSchema | undefined {
    const value = schema[keyword];
    if (value === undefined || typeof value === 'boolean' || isSchemaObject(value)) return value;
    throw this.invalid(schema, keyword, 'a schema');
  }

  schemasAt(schema: SchemaObject, keyword: string): readonly JsonSchema[] | undefined {
    const value = schema[keyword];
    if (value === undefined) return undefined;
    const isList =
      Array.isArray(value) &&
      value.every((item) => typeof item === 'boolean' || isSchemaObject(item));
    if (!isList) throw this.invalid(schema, keyword, 'a list of schemas');
    return value;
  }

  propertiesOf(schema: SchemaObject): [name: string, schema: JsonSchema][] {
    const properties = schema['properties'] ?? {};
    if (!isSchemaObject(properties)) throw this.invalid(schema, 'properties', 'schemas by name');
    return Object.keys(properties).map((name) => [name, this.schemaAt(properties, name) ?? true]);
  }

  requiredOf(schema: SchemaObject): readonly string[] {
    const required = schema['required'] ?? [];
    const isList = Array.isArray(required) && required.every((name) => typeof name === 'string');
    if (!isList) throw this.invalid(schema, 'required', 'a list of names');
    return required;
  }

  /** The values of `enum`. */
  valuesOf(schema: SchemaObject): readonly unknown[] | undefined {
    const values = schema['enum'];
    if (values === undefined || Array.isArray(values)) return values;
    throw this.invalid(schema, 'enum', 'a list of values');
  }

  textAt(schema: SchemaObject, keyword: string): string | undefined {
    const value = schema[keyword];
    if (value === undefined || typeof value === 'string') return value;
    throw this.invalid(schema, keyword, 'a text');
  }

  numberAt(schema: SchemaObject, keyword: string): number | undefined {
    const value = schema[keyword];
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
    throw this.invalid(schema, keyword, 'a number');
  }

  countAt(schema: SchemaObject, keyword: string): number | undefined {
    const value = this.numberAt(schema, keyword);
    if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
    throw this.invalid(schema, keyword, 'a count');
  }

  typesOf(schema: SchemaObject): readonly TypeName[] | undefined {
    const type = schema['type'];
    if (type === undefined) return undefined;
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    const isTypeName = (name: unknown): name is TypeName =>
      TYPE_NAMES.some((known) => known === name);
    if (types.length > 0 && types.every(isTypeName)) return types;
    throw this.invalid(schema, 'type', `one or some of ${TYPE_NAMES.join(', ')}`);
  }

  invalid(schema: SchemaObject, keyword: string, expected: string): ParseError {
    const pointer = this.pointer(schema, keyword);
    const got = shorten(JSON.stringify(schema[keyword]) ?? typeof schema[keyword]);
    return new ParseError({ where: pointer, got, expected }, { details: { pointer } });
  }

  unsupported(
    schema: SchemaObject,
    keyword: string,
    got: string,
    expected: string,
  ): UnsupportedError {
    const pointer = this.pointer(schema, keyword);
    return new UnsupportedError({ where: pointer, got, expected }, { details: { pointer } });
  }
}

function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
