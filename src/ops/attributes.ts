import { type Dim, DIM_OPERATORS, formatDim } from '../core/dims/dim.ts';
import { describe } from '../core/check-options.ts';
import { isDType } from '../core/tensor/dtype.ts';
import { internalError, ShapeError, UnsupportedError } from '../core/errors.ts';
import type { Attributes, AttributeValue } from '../core/contracts/primitive-function.ts';
import { nearestName } from '../core/nearest-name.ts';
import { normalizeAxis } from '../core/tensor/shape.ts';
import type { AttributeSpec, OpDefinition } from './define-op.ts';

/**
 * Fills in defaults and checks names, types and ranges, so that everything after it may read
 * attributes without looking. Throws UnsupportedError for a name the operator does not have and
 * ShapeError for a missing or ill-typed value.
 */
export function completeAttributes(
  op: Pick<OpDefinition, 'name' | 'attributes'>,
  attributes: Attributes,
): Attributes {
  for (const name of Object.keys(attributes)) {
    if (Object.hasOwn(op.attributes, name)) continue;
    const known = Object.keys(op.attributes);
    throw new UnsupportedError({
      where: op.name,
      got: `attribute ${name}`,
      expected: known.length === 0 ? 'no attributes' : `one of ${known.join(', ')}`,
      remedy: nearestName(name, known),
    });
  }
  const complete: Record<string, AttributeValue> = {};
  for (const [name, spec] of Object.entries(op.attributes)) {
    const where = `${op.name}: attribute ${name}`;
    const given = attributes[name];
    const value = given ?? spec.default;
    if (value === undefined) {
      throw new ShapeError({ where, got: 'nothing', expected: typeName(spec) });
    }
    // A default may be shorter than a given list: an empty one stands for "worked out from shapes".
    if (given !== undefined) checkAttribute(given, spec, where);
    complete[name] = value;
  }
  return complete;
}

function checkAttribute(value: AttributeValue, spec: AttributeSpec, where: string): void {
  const complain = (expected: string): never => {
    throw new ShapeError({ where, got: formatAttribute(value), expected });
  };
  if (!hasType(value, spec.type)) complain(typeName(spec));
  const { length, minimum, oneOf } = spec;
  if (length !== undefined && Array.isArray(value) && value.length !== length) {
    complain(typeName(spec));
  }
  if (minimum !== undefined) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items.some((item) => typeof item === 'number' && item < minimum))
      complain(`${typeName(spec)} from ${minimum}`);
  }
  if (oneOf !== undefined && !(typeof value === 'string' && oneOf.includes(value))) {
    complain(`one of ${oneOf.join(', ')}`);
  }
}

function hasType(value: AttributeValue, type: AttributeSpec['type']): boolean {
  switch (type) {
    case 'int':
      return Number.isSafeInteger(value);
    case 'ints':
      return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item));
    case 'dims':
      return Array.isArray(value) && value.every(isDim);
    case 'float':
      return typeof value === 'number';
    case 'floats':
      return Array.isArray(value) && value.every((item) => typeof item === 'number');
    case 'string':
      return typeof value === 'string';
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'bool':
      return typeof value === 'boolean';
    case 'dtype':
      return typeof value === 'string' && isDType(value);
    default:
      return type satisfies never;
  }
}

function isDim(item: unknown): item is Dim {
  if (typeof item === 'number') return Number.isSafeInteger(item);
  if (typeof item === 'string') return true;
  if (typeof item !== 'object' || item === null) return false;
  const { op, left, right } = item as Readonly<Record<string, unknown>>;
  return DIM_OPERATORS.some((known) => known === op) && isDim(left) && isDim(right);
}

const TYPE_NAMES: Readonly<Record<AttributeSpec['type'], string>> = {
  int: 'an integer',
  ints: 'a list of integers',
  dims: 'a list of integers',
  float: 'a number',
  floats: 'a list of numbers',
  string: 'a string',
  strings: 'a list of strings',
  bool: 'true or false',
  dtype: 'the name of a dtype',
};

export const ATTRIBUTE_TYPES: readonly string[] = Object.keys(TYPE_NAMES);

function typeName({ type, length }: AttributeSpec): string {
  const name = TYPE_NAMES[type];
  return length === undefined ? name : name.replace('a list of', String(length));
}

function formatAttribute(value: AttributeValue): string {
  if (typeof value === 'number') return String(value);
  if (!Array.isArray(value)) return describe(value);
  const items: readonly unknown[] = value;
  // JSON would write infinities and NaN as null.
  const texts = items.map((item) => (isDim(item) ? formatDim(item) : String(item)));
  return `[${texts.join(',')}]`;
}

/** Returns true if an attribute has a dimension that is not a number. */
export function hasSymbols(op: OpDefinition, attributes: Attributes): boolean {
  for (const name in op.attributes) {
    const value = attributes[name];
    if (op.attributes[name]?.type !== 'dims' || !Array.isArray(value)) continue;
    if (value.some((item) => typeof item !== 'number')) return true;
  }
  return false;
}

/** Reads an attribute that {@link completeAttributes} has checked. */
export function intAttribute(attributes: Attributes, name: string): number {
  const value = attributes[name];
  return typeof value === 'number' ? value : missing(name);
}

/** Reads the axis of an operator, for a rank: a number from 0 on. Throws ShapeError for one outside. */
export function axisAttribute(name: string): (attributes: Attributes, rank: number) => number {
  return (attributes, rank) =>
    normalizeAxis(intAttribute(attributes, 'axis'), rank, `${name}: attribute axis`);
}

export function floatAttribute(attributes: Attributes, name: string): number {
  return intAttribute(attributes, name);
}

export function boolAttribute(attributes: Attributes, name: string): boolean {
  const value = attributes[name];
  return typeof value === 'boolean' ? value : missing(name);
}

export function stringAttribute(attributes: Attributes, name: string): string {
  const value = attributes[name];
  return typeof value === 'string' ? value : missing(name);
}

export function intsAttribute(attributes: Attributes, name: string): readonly number[] {
  const value = attributes[name];
  if (!Array.isArray(value)) return missing(name);
  return value.map(Number);
}

/** Elements that {@link completeAttributes} has found to be dimensions. */
export function dimsAttribute(attributes: Attributes, name: string): readonly Dim[] {
  const value = attributes[name];
  return Array.isArray(value) ? (value as readonly Dim[]) : missing(name);
}

function missing(name: string): never {
  throw internalError(`attribute ${name} was read before completeAttributes`);
}
