import { TypeCheckError } from '../../../core/errors.ts';
import { formatType, sameType, type Type } from '../../ir/type.ts';
import { compareDims } from '../sizes/compare-dims.ts';
import { varianceAt, type Variances } from './variance.ts';

interface JoinOptions {
  readonly where: string;
  readonly variances: Variances;
}

/**
 * The type of a value that has one of two types, after inference found that they go together: `?`
 * for dimensions that are not the same. Throws TypeCheckError where nothing could go together.
 */
export function joinTypes(a: Type, b: Type, { where, variances }: JoinOptions): Type {
  const joined = join(a, b, variances);
  if (joined !== undefined) return joined;
  throw new TypeCheckError({ where, got: formatType(b), expected: formatType(a) });
}

function join(a: Type, b: Type, variances: Variances): Type | undefined {
  if (sameType(a, b)) return a;
  if (a.kind === 'tensor' && b.kind === 'tensor') {
    if (a.dtype !== b.dtype || a.shape.length !== b.shape.length) return undefined;
    const shape = a.shape.map((dim, axis) =>
      compareDims(dim, b.shape[axis] ?? '?') === 'equal' ? dim : '?',
    );
    return { ...a, shape };
  }
  if (a.kind === 'tuple' && b.kind === 'tuple') {
    const fields = joinAll(a.fields, b.fields, (type, other) => join(type, other, variances));
    return fields && { ...a, fields };
  }
  if (a.kind === 'adt' && b.kind === 'adt' && a.name === b.name) {
    const args = joinAll(a.args, b.args, (type, other, i) => {
      const joined = join(type, other, variances);
      if (!varianceAt(variances, a.name, i).isContravariant) return joined;
      // Functions in the data take only what is a value of both.
      return joined && sameType(joined, type) ? other : joined && type;
    });
    return args && { ...a, args };
  }
  // Inference has found one function type for both: its parameters are those of either.
  if (a.kind === 'function' && b.kind === 'function') {
    const result =
      a.params.length === b.params.length ? join(a.result, b.result, variances) : undefined;
    return result && { ...a, result };
  }
  return undefined;
}

function joinAll(
  a: readonly Type[],
  b: readonly Type[],
  joinAt: (type: Type, other: Type, index: number) => Type | undefined,
): Type[] | undefined {
  if (a.length !== b.length) return undefined;
  const joined: Type[] = [];
  for (const [i, type] of a.entries()) {
    const other = b[i];
    const both = other && joinAt(type, other, i);
    if (both === undefined) return undefined;
    joined.push(both);
  }
  return joined;
}
