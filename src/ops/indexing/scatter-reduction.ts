import { computedDType, type DType } from '../../core/tensor/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { AttributeSpec } from '../define-op.ts';
import { add, maximum, minimum, mul } from '../elementwise/elementwise-binary.ts';
import type { Formula, FormulaCall } from '../formula/expression.ts';

const OPERATORS = { add, mul, max: maximum, min: minimum };

export const REDUCTION_ATTRIBUTE: AttributeSpec = {
  type: 'string',
  default: 'none',
  oneOf: ['none', ...Object.keys(OPERATORS)],
};

/** The function that makes one element of two. Of `none`, which takes the last, undefined. */
export function combination(reduction: string): Formula | undefined {
  if (reduction === 'none') return undefined;
  const formula = OPERATORS[reduction as keyof typeof OPERATORS].scalar?.formula;
  if (formula === undefined) throw internalError(`${reduction} has no formula`);
  return formula;
}

export function contextOf(dtype: DType): FormulaCall {
  const computed = computedDType(dtype);
  return { attributes: {}, dtypes: [computed, computed], output: computed };
}

export function requireReducible(dtype: DType, reduction: string, where: string): void {
  if (reduction === 'none' || dtype !== 'bool') return;
  throw new ShapeError({
    where: `${where}: attribute reduction`,
    got: `${reduction} of bool`,
    expected: 'none, or numbers',
  });
}
