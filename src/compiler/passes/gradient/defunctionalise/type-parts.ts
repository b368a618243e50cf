import { type FunctionTypeNode, partsOfType, type Type, withParts } from '../../../ir/type.ts';

/** Types of functions in a type, in data that it is applied to as well. */
export function functionTypesIn(type: Type): readonly FunctionTypeNode[] {
  if (type.kind === 'function') return [type];
  if (type.kind === 'tuple') return type.fields.flatMap(functionTypesIn);
  return type.kind === 'adt' ? type.args.flatMap(functionTypesIn) : [];
}

/**
 * Returns true if any part of a type passes a test: the type itself, fields, functions' parameters
 * and results, arguments of data.
 */
export function somePart(type: Type, matches: (part: Type) => boolean): boolean {
  return matches(type) || partsOfType(type).some((part) => somePart(part, matches));
}

/** A type whose tensors may have any size: function values of a class differ in them. */
export function withoutSizes<T extends Type>(type: T): T;
export function withoutSizes(type: Type): Type {
  if (type.kind === 'tensor') return { ...type, shape: type.shape.map(() => '?') };
  return withParts(type, withoutSizes);
}

/** A type with tensors of any size. Functions keep theirs. */
export function asHeld(type: Type): Type {
  if (type.kind === 'tensor') return withoutSizes(type);
  return type.kind === 'function' ? type : withParts(type, asHeld);
}

export function hasTypeParameter(type: Type): boolean {
  return somePart(type, ({ kind }) => kind === 'type-var');
}
