import type { DType } from '../core/dtype.ts';
import { internalError, ShapeError } from '../core/errors.ts';
import type { ConcreteTensorType } from '../core/primitive-function.ts';
import { formatShape } from '../core/shape.ts';
import type { Operands } from './lowering.ts';

/** The input at `index`, which `inferCall` has found to be there. */
export function operand<T>(inputs: Operands<T>, index: number): T {
  const input = inputs[index];
  if (input === undefined) throw internalError(`operand ${index} is missing`);
  return input;
}

/** The inputs that are there. */
export function present<T>(inputs: Operands<T>): T[] {
  return inputs.filter((input) => input !== undefined) as T[];
}

/** `float32 (2, 3)`. */
export function formatType(type: ConcreteTensorType): string {
  return `${type.dtype} ${formatShape(type.shape)}`;
}

export function requireRank(type: ConcreteTensorType, rank: number, where: string): void {
  if (type.shape.length === rank) return;
  throw new ShapeError({
    where,
    got: `${formatType(type)} of rank ${type.shape.length}`,
    expected: `rank ${rank}`,
  });
}

export function requireMinimumRank(type: ConcreteTensorType, rank: number, where: string): void {
  if (type.shape.length >= rank) return;
  throw new ShapeError({
    where,
    got: `${formatType(type)} of rank ${type.shape.length}`,
    expected: `rank ${rank} or more`,
  });
}

/** The dtype that all types share. */
export function commonDType(types: readonly ConcreteTensorType[], where: string): DType {
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
export function requireLength(list: readonly number[], length: number, where: string): void {
  if (list.length === length) return;
  throw new ShapeError({
    where,
    got: `[${list.join(', ')}]`,
    expected: length === 1 ? '1 integer' : `${length} integers`,
  });
}
