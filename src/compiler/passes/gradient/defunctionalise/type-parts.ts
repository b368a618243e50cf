import type { FunctionTypeNode, Type } from '../../../ir/type.ts';

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
export function somePart(type: Type, isAsked: (part: Type) => boolean): boolean {
  let found = isAsked(type);
  withParts(type, (part) => {
    found ||= somePart(part, isAsked);
    return part;
  });
  return found;
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

export function withParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case 'tuple':
      return { ...type, fields: type.fields.map(change) };
    case 'adt':
      return { ...type, args: type.args.map(change) };
    case 'function':
      return { ...type, params: type.params.map(change), result: change(type.result) };
    case 'tensor':
    case 'type-var':
    case 'scalar':
      return type;
    default:
      return type satisfies never;
  }
}

export function hasTypeParameter(type: Type): boolean {
  return somePart(type, ({ kind }) => kind === 'type-var');
}
