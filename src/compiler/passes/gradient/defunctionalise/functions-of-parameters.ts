import type { Module } from '../../../ir/expr.ts';
import type { Type } from '../../../ir/type.ts';
import { functionTypesIn, somePart } from './function-classes.ts';

/** The first data type with functions in its fields whose types depend on its type parameters. */
export function functionsOfParameters({ types }: Module): string | undefined {
  for (const { name, params, constructors } of types.values()) {
    const fields = params.length === 0 ? [] : constructors.flatMap(({ fields: own }) => own);
    if (fields.flatMap(functionTypesIn).some(hasParameter)) return name;
  }
  return undefined;
}

function hasParameter(type: Type): boolean {
  return somePart(type, ({ kind }) => kind === 'type-var');
}
