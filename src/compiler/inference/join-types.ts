import { TypeCheckError } from '../../core/errors.ts';
import { formatType, sameType, type Type } from '../ir/type.ts';
import { freshMeta, termOf } from './term.ts';
import { Unifier } from './unifier.ts';

/**
 * The type of a value that has one of two types, as Relay unifies branches: dimensions have to be
 * equal, or one of them `?`, which is then the result's. Throws TypeCheckError.
 */
export function joinTypes(a: Type, b: Type, where: string): Type {
  if (sameType(a, b)) return a;
  const unifier = new Unifier();
  const joined = freshMeta();
  if (unifier.flow(termOf(a), joined) && unifier.flow(termOf(b), joined)) {
    return unifier.typeOf(joined, () => ({ kind: 'tuple', fields: [] }));
  }
  throw new TypeCheckError({ where, got: formatType(b), expected: formatType(a) });
}
