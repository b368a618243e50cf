import { RuntimeError } from '../../core/errors.ts';
import {
  AdtValue,
  describeValue,
  DTypeValue,
  FloatValue,
  ShapeHeap,
  ShapeValue,
  StorageValue,
  TensorValue,
  type Value,
} from '../values/value.ts';

/** Kinds that the verifier cannot know, because registers are not typed, are checked here. */
export function expectInt(value: Value, where: string): number {
  if (typeof value === 'number') return value;
  throw wrongKind(value, 'an int', where);
}

export function expectFloat(value: Value, where: string): number {
  if (value instanceof FloatValue) return value.value;
  throw wrongKind(value, 'a float', where);
}

export function expectString(value: Value, where: string): string {
  if (typeof value === 'string') return value;
  throw wrongKind(value, 'a string', where);
}

export function expectTensor(value: Value, where: string): TensorValue {
  if (value instanceof TensorValue) return value;
  throw wrongKind(value, 'a tensor', where);
}

export function expectStorage(value: Value, where: string): StorageValue {
  if (value instanceof StorageValue) return value;
  throw wrongKind(value, 'a storage', where);
}

export function expectShape(value: Value, where: string): ShapeValue {
  if (value instanceof ShapeValue) return value;
  throw wrongKind(value, 'a shape', where);
}

export function expectHeap(value: Value, where: string): ShapeHeap {
  if (value instanceof ShapeHeap) return value;
  throw wrongKind(value, 'a shape heap', where);
}

export function expectAdt(value: Value, where: string): AdtValue {
  if (value instanceof AdtValue) return value;
  throw wrongKind(value, 'a tuple or ADT value', where);
}

export function expectDType(value: Value, where: string): DTypeValue {
  if (value instanceof DTypeValue) return value;
  throw wrongKind(value, 'a dtype', where);
}

/** The number in an int or a float. */
export function numberOf(value: Value, where: string): number {
  if (typeof value === 'number') return value;
  if (value instanceof FloatValue) return value.value;
  throw wrongKind(value, 'an int or a float', where);
}

export function wrongKind(value: Value, expected: string, where: string): RuntimeError {
  return new RuntimeError({ where, got: describeValue(value), expected });
}
