import { type Dim, DIM_OPERATORS, type DimOperator } from '../../../core/dims/dim.ts';
import { isDType } from '../../../core/tensor/dtype.ts';
import { FormatError } from '../../../core/errors.ts';
import type { DataRole } from './field-table.ts';
import { isOpaqueTypeName, type ScalarTypeNode } from '../type.ts';

const SCALARS: readonly ScalarTypeNode['scalar'][] = [
  'any',
  'float',
  'int',
  'shape',
  'shape_heap',
  'storage',
];

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Nested arithmetic over dimensions is read down to this depth. */
const MAX_DIM_DEPTH = 200;

/** Data of a node as JSON. Numbers that JSON has not are written as `{ "number": "-0" }`. */
export function dataToJson(value: unknown): JsonValue {
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { number: formatOdd(value) };
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(dataToJson);
  if (!isRecord(value)) throw new Error(`internal: a ${typeof value} in a node`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([name, item]) => [name, dataToJson(item)]));
}

function formatOdd(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The inverse of {@link dataToJson}. Throws FormatError for what the role does not allow. */
export function dataFromJson(json: unknown, role: DataRole, where: string): unknown {
  const value = READERS[role](json);
  if (value !== undefined) return value;
  throw new FormatError({ where, got: describeJson(json), expected: EXPECTED[role] });
}

/** The beginning of JSON, for messages. */
export function describeJson(json: unknown): string {
  if (json === undefined) return 'nothing';
  try {
    const text = JSON.stringify(json);
    return text.length > 40 ? `${text.slice(0, 40)}…` : text;
  } catch {
    // The engine writes nested data by recursion.
    return 'data that is deeply nested';
  }
}

const EXPECTED: Readonly<Record<DataRole, string>> = {
  'type-params': 'a list of names',
  'type-param': 'a name',
  tensor: 'a tensor',
  shape: 'a list of dimensions',
  dtype: 'the name of a dtype',
  scalar: 'int, float, shape, shape_heap, storage, any or Opaque[name]',
  device: 'host or session',
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  attributes: 'attributes by name',
  'function-attributes': 'attributes of a function',
  hint: 'a text',
  span: 'a source with line and column',
};

/** Readers of each role; undefined for what it does not allow. */
const READERS: Readonly<Record<DataRole, (json: unknown) => unknown>> = {
  'type-params': texts,
  'type-param': text,
  tensor: () => undefined,
  shape: dimensions,
  dtype: (json) => (typeof json === 'string' && isDType(json) ? json : undefined),
  scalar: (json) => (isOpaqueTypeName(json) ? json : SCALARS.find((scalar) => scalar === json)),
  device: (json) => (json === 'host' || json === 'session' ? json : undefined),
  string: text,
  integer: (json) => (isInteger(json) ? json : undefined),
  number,
  boolean: (json) => (typeof json === 'boolean' ? json : undefined),
  attributes: (json) => recordOf(json, attribute),
  'function-attributes': functionAttributes,
  hint: text,
  span,
};

export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isInteger(json: unknown): json is number {
  return Number.isSafeInteger(json);
}

function text(json: unknown): string | undefined {
  return typeof json === 'string' ? json : undefined;
}

function texts(json: unknown): readonly string[] | undefined {
  return listOf(json, text);
}

/** A list of which every item can be read. */
function listOf<T>(json: unknown, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(json)) return undefined;
  const items: T[] = [];
  for (const item of json as readonly unknown[]) {
    const value = read(item);
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** An object of which every value can be read. */
function recordOf(json: unknown, read: (item: unknown) => unknown): unknown {
  if (!isRecord(json)) return undefined;
  const values = listOf(Object.values(json), read);
  if (values === undefined) return undefined;
  return Object.fromEntries(Object.keys(json).map((name, i) => [name, values[i]]));
}

const ODD_NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ['-0', -0],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function number(json: unknown): number | undefined {
  if (typeof json === 'number') return json;
  return isRecord(json) ? ODD_NUMBERS.get(json['number']) : undefined;
}

function attribute(json: unknown): unknown {
  if (typeof json === 'boolean') return json;
  return text(json) ?? number(json) ?? texts(json) ?? listOf(json, number) ?? dimensions(json);
}

function functionAttributes(json: unknown): unknown {
  if (!isRecord(json)) return undefined;
  const { primitive, device, resultNames, bounds, private: isPrivate, ...numbers } = json;
  const { captured, inPlace, ...others } = numbers;
  const isRight =
    Object.keys(others).length === 0 &&
    (primitive === undefined || text(primitive) !== undefined) &&
    (device === undefined || device === 'host') &&
    (resultNames === undefined || texts(resultNames) !== undefined) &&
    (bounds === undefined || isBounds(bounds)) &&
    (isPrivate === undefined || isPrivate === true) &&
    [captured, inPlace].every((count) => count === undefined || (isInteger(count) && count >= 0));
  return isRight ? json : undefined;
}

function isBounds(json: unknown): boolean {
  if (!isRecord(json)) return false;
  return Object.values(json).every((range) => {
    const [min, max, ...others] = listOf(range, number) ?? [];
    if (!isInteger(min) || !isInteger(max)) return false;
    return min >= 0 && min <= max && others.length === 0;
  });
}

function dimensions(json: unknown): Dim[] | undefined {
  return listOf(json, (item) => dimension(item, 0));
}

function dimension(json: unknown, depth: number): Dim | undefined {
  if (isInteger(json) || typeof json === 'string') return json;
  if (!isRecord(json) || depth === MAX_DIM_DEPTH) return undefined;
  const op = DIM_OPERATORS.find((known: DimOperator) => known === json['op']);
  const left = dimension(json['left'], depth + 1);
  const right = dimension(json['right'], depth + 1);
  if (op === undefined || left === undefined || right === undefined) return undefined;
  return { op, left, right };
}

function span(json: unknown): unknown {
  if (!isRecord(json)) return undefined;
  const { source, line, column } = json;
  if (typeof source !== 'string') return undefined;
  if (line !== undefined && !isInteger(line)) return undefined;
  if (column !== undefined && !isInteger(column)) return undefined;
  return {
    source,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}
