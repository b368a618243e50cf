import type { DType, TypedArray } from '../core/tensor/dtype.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import type { InputSpec } from '../ops/define-op.ts';
import { Tensor, type NestedArray } from '../client/values/tensor.ts';
import { ArrayState, type HasState, hasState, stateOfTensor } from './array-state.ts';
import { siteOr } from './call-site.ts';

/**
 * An operand of an operator: an array, or numbers, which become an array of the dtype that is
 * needed.
 */
export type Operand = HasState | NestedArray | TypedArray | Tensor;

/** Within the package, also the state of an array. */
export type InnerOperand = Operand | ArrayState;

/** The array of an operand; `dtype` is that of numbers. */
export function stateOf(operand: InnerOperand, dtype?: DType): ArrayState {
  if (operand instanceof ArrayState) return operand;
  if (hasState(operand)) return operand.state;
  return stateOfTensor(tensorOf(operand, dtype));
}

/** The elements of an operand that is no array. Throws UsageError for what has none. */
export function tensorOf(operand: Exclude<Operand, HasState>, dtype?: DType): Tensor {
  if (operand instanceof Tensor) return operand;
  const isNumbers =
    ArrayBuffer.isView(operand) ||
    Array.isArray(operand) ||
    /^(number|bigint|boolean)$/.test(typeof operand);
  if (isNumbers) return Tensor.from(operand, dtype);
  throw new UsageError({
    where: siteOr('array'),
    got: operand === null ? 'null' : typeof operand,
    expected: 'an array, a Tensor, numbers or arrays of numbers',
  });
}

/**
 * The arrays of the operands of an operator. Numbers take the dtype of an array that has to have the same, else
 * one that the operator takes.
 */
export function statesOf(
  operands: readonly InnerOperand[],
  inputs: readonly InputSpec[],
  where: string,
): readonly ArrayState[] {
  const arrays = operands.map((operand) =>
    operand instanceof ArrayState ? operand : hasState(operand) ? operand.state : undefined,
  );
  return operands.map((operand, index) => {
    const state = arrays[index];
    if (state !== undefined) return state;
    const spec = specAt(inputs, index);
    if (spec === undefined) throw tooMany(operands.length, inputs.length, where);
    const like = arrays.find(
      (other, at) => other !== undefined && sameList(specAt(inputs, at)?.dtypes, spec.dtypes),
    );
    return stateOf(operand, like?.type.dtype ?? usualDType(operand, spec.dtypes));
  });
}

function specAt(inputs: readonly InputSpec[], index: number): InputSpec | undefined {
  const last = inputs.at(-1);
  return inputs[index] ?? (last?.variadic === true ? last : undefined);
}

function sameList(a: readonly DType[] | undefined, b: readonly DType[]): boolean {
  return a?.length === b.length && b.every((dtype) => a.includes(dtype));
}

/** That of a typed array or of a nested one; of plain numbers float32, or what the operator takes instead. */
function usualDType(operand: InnerOperand, allowed: readonly DType[]): DType | undefined {
  if (operand instanceof Tensor || ArrayBuffer.isView(operand)) return undefined;
  const own = Tensor.from(operand as NestedArray).dtype;
  if (allowed.includes(own)) return own;
  return allowed.find((dtype) => dtype === 'int32') ?? allowed[0];
}

function tooMany(count: number, most: number, where: string): ShapeError {
  return new ShapeError({
    where: siteOr(where),
    got: `${count} operands of ${where}`,
    expected: String(most),
    remedy: 'Attributes stand in an object: softmax(x, { axis: 0 }).',
  });
}
