import type { TypeDefinition } from '../../ir/type.ts';
import { typeFault } from '../declarations.ts';
import type { TypeDiagnostics } from './type-diagnostics.ts';

const NO_SYMBOLS: ReadonlySet<string> = new Set();

/** Checks that data types refer to types that there are, and that constructors are unique. */
export function checkDefinitions(
  types: ReadonlyMap<string, TypeDefinition>,
  diagnostics: TypeDiagnostics,
): void {
  const owners = new Map<string, string>();
  for (const definition of types.values()) {
    const typeParams = new Set(definition.params);
    const tags = new Set<number>();
    for (const { name, fields, tag } of definition.constructors) {
      const where = `type ${definition.name}, constructor ${name}`;
      const owner = owners.get(name);
      if (owner !== undefined) {
        const got = `a constructor that type ${owner} has`;
        diagnostics.complain(undefined, { where, got, expected: 'another name' });
      }
      owners.set(name, definition.name);
      if (tag !== undefined && tags.has(tag)) {
        const got = `the tag ${tag} again`;
        diagnostics.complain(undefined, { where, got, expected: 'one of its own' });
      }
      if (tag !== undefined) tags.add(tag);
      for (const field of fields) {
        const fault = typeFault(field, { types, typeParams, symbols: NO_SYMBOLS });
        if (fault !== undefined) diagnostics.complain(undefined, { where, ...fault });
      }
    }
  }
}
