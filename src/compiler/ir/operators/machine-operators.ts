import { isDType } from '../../../core/tensor/dtype.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { simplifyDim } from '../../../core/dims/dim-algebra.ts';
import { ShapeError } from '../../../core/errors.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { formatType, STORAGE_TYPE, type Type, UNIT_TYPE, isSymbol, sameType } from '../type.ts';
import { substitute, type Substitution, termOf, typeOfTerm } from '../term.ts';

/**
 * Memory of a device, of `bytes` bytes: a list of one dimension. After `lower-shapes` the operand is
 * the number, where it is none.
 */
export const ALLOC_STORAGE = 'alloc_storage';

/**
 * A tensor in a storage, from the byte `offset` on (a multiple of 256), whose elements are what the
 * storage held before. After `lower-shapes` the second operand has the sizes, where they are no
 * numbers.
 */
export const ALLOC_TENSOR = 'alloc_tensor';

/**
 * A tensor that nothing else refers to, with the elements of the operand: the same memory, or a copy where that is
 * shared. Nothing reads the operand after.
 */
export const OWN = 'own';

/**
 * A tensor of the operand's type over its memory if nothing else refers to that, or over new memory. The operand is
 * read by the call that writes to it, and by nothing after.
 */
export const REUSE = 'reuse';

/**
 * The operands one after the other along `axis`. The first is extended in its memory if nothing else refers to that
 * and there is room behind each slice of the axes before. Nothing reads it after.
 */
export const APPEND = 'append';

/** A tensor with the room that it has along `axis`, as its size there. */
export const WHOLE = 'whole';

/**
 * Calls a primitive function, the first operand, so that its result goes to the last operand, and
 * gives that. Nothing else may refer to the last operand, which may be one that the function changes in place.
 */
export const CALL_INTO = 'call_into';

/**
 * A function value: a global function, the first operand, without its last parameters, for which it
 * has the other operands. Type arguments stand for the first type parameters of the function.
 */
export const MAKE_CLOSURE = 'make_closure';

/** Drops the reference that the function holds to a value. Nothing reads the variable after. */
export const KILL = 'kill';

/**
 * Operators that the passes below A-normal form bring in: `make_closure` by `lambda-lift`, those on
 * memory by `plan-memory` and `liveness`. The latter have effects, so that no pass but those after it
 * may see them.
 */
export const MACHINE_OPERATORS: readonly ScalarOperator[] = [
  {
    name: ALLOC_STORAGE,
    inputs: [],
    rest: 'int',
    attributes: {
      bytes: { type: 'dims', length: 1 },
      device: { type: 'string', oneOf: ['host', 'session'], default: 'session' },
    },
    result: STORAGE_TYPE,
  },
  {
    name: ALLOC_TENSOR,
    inputs: ['storage'],
    rest: 'shape',
    attributes: {
      shape: { type: 'dims' },
      dtype: { type: 'dtype' },
      offset: { type: 'int', default: 0 },
    },
    result: allocatedType,
  },
  {
    name: OWN,
    inputs: ['tensor'],
    attributes: {},
    builtin: 'own',
    result: 'operand',
  },
  {
    name: REUSE,
    inputs: ['tensor'],
    attributes: {},
    builtin: 'reuse',
    result: 'operand',
  },
  {
    name: APPEND,
    inputs: ['tensor'],
    rest: 'tensor',
    attributes: { axis: { type: 'int' } },
    result: appendedType,
  },
  {
    name: WHOLE,
    inputs: ['tensor'],
    attributes: { axis: { type: 'int', minimum: 0 } },
    result: wholeType,
  },
  { name: CALL_INTO, inputs: ['function'], rest: 'tensor', attributes: {}, result: writtenType },
  {
    name: MAKE_CLOSURE,
    inputs: ['function'],
    rest: 'any',
    attributes: {},
    result: (inputs, _attributes, typeArguments) => closureType(inputs, typeArguments),
  },
  { name: KILL, inputs: ['any'], attributes: {}, result: () => UNIT_TYPE },
];

function allocatedType(_inputs: readonly Type[], { shape, dtype }: Attributes): Type {
  if (typeof dtype !== 'string' || !isDType(dtype) || !Array.isArray(shape)) {
    throw new Error(`internal: ${ALLOC_TENSOR} without shape and dtype`);
  }
  const dims: readonly Dim[] = shape;
  return { kind: 'tensor', dtype, shape: dims };
}

function appendedType(tensors: readonly Type[], { axis }: Attributes): Type {
  const shapes = tensors.flatMap((type) => (type.kind === 'tensor' ? [type.shape] : []));
  const [first] = tensors;
  if (first?.kind !== 'tensor' || typeof axis !== 'number') {
    throw new Error(`internal: ${APPEND} without a tensor or an axis`);
  }
  const sizes = shapes.map((shape) => shape[axis] ?? 1);
  const size = sizes.reduce((left, right): Dim => ({ op: 'add', left, right }));
  return { ...first, shape: first.shape.with(axis, simplifyDim(size)) };
}

function wholeType([tensor]: readonly Type[], { axis }: Attributes): Type {
  if (tensor?.kind !== 'tensor' || typeof axis !== 'number') {
    throw new Error(`internal: ${WHOLE} without a tensor or an axis`);
  }
  return { ...tensor, shape: tensor.shape.with(axis, '?') };
}

/** Dimensions are those of the destination: the function's own may have other names. */
function writtenType([fn, ...tensors]: readonly Type[]): Type {
  const target = tensors.at(-1);
  const where = CALL_INTO;
  if (fn?.kind !== 'function' || target?.kind !== 'tensor') {
    throw new ShapeError({ where, got: 'no destination', expected: 'the tensor for the result' });
  }
  const { params, result } = fn;
  if (params.length !== tensors.length - 1) {
    const got = `${tensors.length} tensors`;
    throw new ShapeError({ where, got, expected: `${params.length} and a destination` });
  }
  const fits =
    result.kind === 'tensor' &&
    result.dtype === target.dtype &&
    result.shape.length === target.shape.length;
  if (fits) return target;
  const expected = formatType(result);
  throw new ShapeError({ where: `${where}: destination`, got: formatType(target), expected });
}

/**
 * The type of a closure: that of its function without the last parameters. Symbols of the function
 * are those that the captured values have in their places; others keep their names. Throws ShapeError.
 */
function closureType([fn, ...captured]: readonly Type[], typeArguments: readonly Type[]): Type {
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
