import type { Dim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { formatType, isSymbol, sameType, type Type } from './type.ts';
import { substitute, type Substitution, termOf, typeOfTerm } from './term.ts';

/**
 * The type of a closure: that of its function without the last parameters. Symbols of the function
 * are those that the captured values have in their places; others keep their names. Throws ShapeError.
 */
export function closureType(
  [fn, ...captured]: readonly Type[],
  typeArguments: readonly Type[],
): Type {
  const where = 'make_closure';
  const count = (fn?.kind === 'function' ? fn.params.length : -1) - captured.length;
  if (fn?.kind !== 'function' || count < 0) {
    const got = `${captured.length} captured values of ${fn === undefined ? 'nothing' : formatType(fn)}`;
    throw new ShapeError({ where, got, expected: 'a function with so many parameters' });
  }
  const { typeParams = [], params, result } = fn;
  const held = params.slice(count);
  const dims = new Map<string, Dim>();
  for (const [i, param] of held.entries()) matchSymbols(param, captured[i], dims);
  const types = typeParams
    .slice(0, typeArguments.length)
    .map((name, i) => [name, termOf(typeArguments[i] ?? result)] as const);
  const substitution = { types: new Map(types), dims };
  for (const [i, param] of held.entries()) {
    const [expected, got] = [replaced(param, substitution), captured[i]];
    if (got !== undefined && sameType(expected, got)) continue;
    throw new ShapeError({
      where: `${where}: captured value ${i}`,
      got: got === undefined ? 'nothing' : formatType(got),
      expected: formatType(expected),
    });
  }
  const rest = typeParams.slice(typeArguments.length);
  const binder = rest.length === 0 ? {} : { typeParams: rest };
  const own: Type = { kind: 'function', ...binder, params: params.slice(0, count), result };
  return replaced(own, substitution);
}

/** The dimension in one type where a symbol stands in the other. */
function matchSymbols(type: Type, actual: Type | undefined, dims: Map<string, Dim>): void {
  if (type.kind === 'tensor' && actual?.kind === 'tensor') {
    for (const [axis, dim] of type.shape.entries()) {
      const other = actual.shape[axis];
      if (isSymbol(dim) && other !== undefined && !dims.has(dim)) dims.set(dim, other);
    }
  } else if (type.kind === 'tuple' && actual?.kind === 'tuple') {
    for (const [i, field] of type.fields.entries()) matchSymbols(field, actual.fields[i], dims);
  } else if (type.kind === 'adt' && actual?.kind === 'adt') {
    for (const [i, arg] of type.args.entries()) matchSymbols(arg, actual.args[i], dims);
  }
}

function replaced(type: Type, substitution: Substitution): Type {
  const unknown = (): Type => {
    throw new Error(`internal: ${formatType(type)} has metavariables`);
  };
  return typeOfTerm(substitute(termOf(type), substitution), { unknown, dim: (dim) => dim });
}
