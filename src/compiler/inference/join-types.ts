import { sameDim } from '../../core/dim.ts';
import { TypeCheckError } from '../../core/errors.ts';
import { formatType, sameType, type Type } from '../ir/type.ts';
import { freshMeta, termOf } from './term.ts';
import { Unifier } from './unifier.ts';

/**
 * The type of a value that has one of two types, of branches that inference has found to agree.
 * Where dimensions differ, because a pass gave a name to one that was unknown, the result's is `?`.
 * Throws TypeCheckError.
 */
export function joinTypes(a: Type, b: Type, where: string): Type {
  if (sameType(a, b)) return a;
  const unifier = new Unifier();
  const joined = freshMeta();
  if (unifier.flow(termOf(a), joined) && unifier.flow(termOf(b), joined)) {
    return unifier.typeOf(joined, () => ({ kind: 'tuple', fields: [] }));
  }
  const widened = widen(a, b);
  if (widened !== undefined) return widened;
  throw new TypeCheckError({ where, got: formatType(b), expected: formatType(a) });
}

function widen(a: Type, b: Type): Type | undefined {
  if (a.kind === 'tensor' && b.kind === 'tensor') {
    if (a.dtype !== b.dtype || a.shape.length !== b.shape.length) return undefined;
    return {
      ...a,
      shape: a.shape.map((dim, axis) => (sameDim(dim, b.shape[axis] ?? '?') ? dim : '?')),
    };
  }
  if (a.kind !== 'tuple' || b.kind !== 'tuple' || a.fields.length !== b.fields.length) {
    return sameType(a, b) ? a : undefined;
  }
  const fields: Type[] = [];
  for (const [i, field] of a.fields.entries()) {
    const other = b.fields[i];
    const widened = other === undefined ? undefined : widen(field, other);
    if (widened === undefined) return undefined;
    fields.push(widened);
  }
  return { ...a, fields };
}
