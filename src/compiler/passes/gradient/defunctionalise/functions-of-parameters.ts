import type { Module } from '../../../ir/expr.ts';
import type { Type } from '../../../ir/type.ts';
import { functionTypesIn } from './function-classes.ts';

/** The first data type with functions in its fields whose types depend on its type parameters. */
export function functionsOfParameters({ types }: Module): string | undefined {
  for (const { name, params, constructors } of types.values()) {
    const fields = params.length === 0 ? [] : constructors.flatMap(({ fields: own }) => own);
    if (fields.flatMap(functionTypesIn).some(hasParameter)) return name;
  }
  return undefined;
}

function hasParameter(type: Type): boolean {
  switch (type.kind) {
    case 'type-var':
      return true;
    case 'tuple':
      return type.fields.some(hasParameter);
    case 'adt':
      return type.args.some(hasParameter);
    case 'function':
      return [...type.params, type.result].some(hasParameter);
    case 'tensor':
    case 'scalar':
      return false;
    default:
      return type satisfies never;
  }
}
