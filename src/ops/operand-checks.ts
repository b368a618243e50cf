import { countElements, type DimContext } from '../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../core/dims/dim.ts';
import { type DType, dtypeInfo } from '../core/tensor/dtype.ts';
import { type Complaint, internalError, ShapeError } from '../core/errors.ts';
import type { TensorType, TensorTypeOf } from '../core/contracts/primitive-function.ts';
import { formatShape } from '../core/tensor/shape.ts';
import type { Operands } from './lowering/lowering.ts';

/** The input at `index`, which `inferConcreteCall` has found to be there. */
export function operand<T>(inputs: Operands<T>, index: number): T {
  const input = inputs[index];
  if (input === undefined) throw internalError(`operand ${index} is missing`);
  return input;
}

export function present<T>(inputs: Operands<T>): T[] {
  return inputs.filter((input) => input !== undefined) as T[];
}

/** The type as text: `float32 (2, 3)`. */
export function formatType(type: TensorType): string {
  return `${type.dtype} ${formatShape(type.shape.map(formatDim))}`;
}

/** Integers have no infinities and no NaN. */
export function requireFillable(dtype: DType, value: number, where: string): void {
  const { category } = dtypeInfo(dtype);
  if (Number.isFinite(value) || (category !== 'int' && category !== 'uint')) return;
  throw new ShapeError({ where, got: `${value} for ${dtype}`, expected: 'a finite number' });
}

export function requireRank(type: TensorType, rank: number, where: string): void {
  if (type.shape.length === rank) return;
  throw new ShapeError({
    where,
    got: `${formatType(type)} of rank ${type.shape.length}`,
    expected: `rank ${rank}`,
  });
}

export function requireMinimumRank(type: TensorType, rank: number, where: string): void {
  if (type.shape.length >= rank) return;
  throw new ShapeError({
    where,
    got: `${formatType(type)} of rank ${type.shape.length}`,
    expected: `rank ${rank} or more`,
  });
}

export function commonDType(types: readonly TensorType[], where: string): DType {
  const first = types[0]?.dtype ?? 'float32';
  if (types.every((type) => type.dtype === first)) return first;
  throw new ShapeError({
    where,
    got: types.map(formatType).join(' and '),
    expected: 'inputs of one dtype',
    remedy: 'Insert a cast.',
  });
}

/** A list attribute with one element per axis. */
export function requireLength(list: readonly Dim[], length: number, where: string): void {
  if (list.length === length) return;
  throw new ShapeError({
    where,
    got: `[${list.map(formatDim).join(', ')}]`,
    expected: length === 1 ? '1 integer' : `${length} integers`,
  });
}

/** The type broadcasts to a shape that it does not widen. */
export function requireBroadcastsTo<D extends Dim>(
  type: TensorTypeOf<D>,
  shape: readonly D[],
  { dims, complaint }: { readonly dims: DimContext<D>; readonly complaint: () => Complaint },
): void {
  const lead = shape.length - type.shape.length;
  if (lead < 0) throw new ShapeError(complaint());
  for (const [axis, dim] of type.shape.entries()) {
    const target = shape[lead + axis];
    if (target !== undefined) dims.requireRepeats(dim, target, complaint);
  }
}

/** The type has these dimensions. */
export function requireShape<D extends Dim>(
  type: TensorTypeOf<D>,
  shape: readonly (D | number)[],
  { dims, where }: { readonly dims: DimContext<D>; readonly where: string },
): void {
  const complaint = () => ({
    where,
    got: formatType(type),
    expected: `(${shape.map(formatDim).join(', ')})`,
  });
  if (type.shape.length !== shape.length) throw new ShapeError(complaint());
  for (const [axis, dim] of shape.entries()) {
    const size = type.shape[axis];
    if (size !== undefined) dims.requireEqual(size, dim, complaint);
  }
}

/** Each type has a single element. */
export function requireSingle<D extends Dim>(
  types: readonly TensorTypeOf<D>[],
  dims: DimContext<D>,
  complaint: () => Complaint,
): void {
  const sizes = types.flatMap(({ shape }) => shape);
  for (const size of sizes) dims.requireEqual(size, dims.of(1), complaint);
}

/** The type has one axis, of `size` elements. */
export function requireVector<D extends Dim>(
  type: TensorTypeOf<D>,
  size: D,
  { dims, complaint }: { readonly dims: DimContext<D>; readonly complaint: () => Complaint },
): void {
  const [length, ...more] = type.shape;
  if (length === undefined || more.length > 0) throw new ShapeError(complaint());
  dims.requireEqual(length, size, complaint);
}

/** Requires something to reduce for each element that the result has. */
export function requireElements<D extends Dim>(
  { kept, reduced }: { readonly kept: readonly D[]; readonly reduced: readonly D[] },
  dims: DimContext<D>,
  complaint: () => Complaint,
): void {
  // The result's element count, but at most 1, so that the requirement is one of numbers of elements.
  const results = dims.min(countElements(kept, dims), 1);
  dims.requireAtMost(results, countElements(reduced, dims), complaint);
}
