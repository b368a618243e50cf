import { ShapeError } from '../../core/errors.ts';
import type { DimContext } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { Operands } from '../lowering/lowering.ts';
import { formatType, operand, requireVector } from '../operand-checks.ts';

/** An input of integers and the input that holds its zero points, by index. */
export interface ZeroPointed {
  readonly input: number;
  readonly zero: number;
  /** The axis along which zero points vary, where there is more than one. */
  readonly axis: number;
}

/** Zero points are one for all, or one for each index along an axis. Throws ShapeError. */
export function requireZeroPoints<D extends Dim>(
  types: Operands<TensorTypeOf<D>>,
  { input, zero, axis }: ZeroPointed,
  { where, dims }: { readonly where: string; readonly dims: DimContext<D> },
): void {
  const type = types[zero];
  if (type === undefined) return;
  const x = operand(types, input);
  const complaint = () => ({
    where,
    got: `zero points ${formatType(type)} for ${formatType(x)}`,
    expected: `${x.dtype}, one or as many as axis ${axis} has`,
  });
  if (type.dtype !== x.dtype) throw new ShapeError(complaint());
  if (type.shape.every((dim) => dim === 1)) return;
  requireVector(type, x.shape.at(axis) ?? dims.of(1), { dims, complaint });
}

/** Element i has the zero point i / inner % size. */
export function axisSteps(
  shape: readonly number[],
  axis: number,
  size: number,
): { inner: number; size: number } {
  const after = axis === -1 ? [] : shape.slice(axis + 1);
  return { inner: Math.max(1, elementCount(after)), size: Math.max(1, size) };
}
