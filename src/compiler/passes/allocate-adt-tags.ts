import type { TypeDefinition } from '../ir/type.ts';
import type { Pass } from './pass.ts';

/**
 * Gives each constructor the number that stands for it in values: its place in its type, from 0.
 * `type List[A] { Cons(A, List[A]) = 0, Nil = 1 }`.
 */
export const allocateAdtTags: Pass = {
  name: 'allocate-adt-tags',
  run(module) {
    const isTagged = ({ constructors }: TypeDefinition): boolean =>
      constructors.every(({ tag }) => tag !== undefined);
    if ([...module.types.values()].every(isTagged)) return module;
    const types = [...module.types].map(([name, definition]) => {
      const constructors = definition.constructors.map((constructor, tag) => ({
        ...constructor,
        tag,
      }));
      return [name, { ...definition, constructors }] as const;
    });
    return { ...module, types: new Map(types) };
  },
};
