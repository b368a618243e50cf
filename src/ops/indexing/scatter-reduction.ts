import { computedDType, type DType } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { AttributeSpec } from '../define-op.ts';
import { add, maximum, minimum, mul } from '../elementwise/elementwise-binary.ts';
import type { Formula, FormulaCall } from '../formula/expression.ts';
import { renderScalar } from '../formula/render-scalar.ts';
import type { RenderOptions } from '../formula/render-wgsl.ts';

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

/** Declarations of `fn combine`. Where only the last update counts nothing calls it. */
export function combineWgsl(dtype: DType, reduction: string): string {
  const formula = combination(reduction);
  const functions = new Map<string, string>();
  const lines: string[] = [];
  const options: RenderOptions = {
    operands: ['a', 'b'],
    width: 1,
    bind: (text) => {
      const name = `bound${lines.length}`;
      lines.push(`let ${name} = ${text};`);
      return name;
    },
    declare: (name, text) => functions.set(name, text),
  };
  const result = formula === undefined ? 'b' : renderScalar({ formula }, contextOf(dtype), options);
  const body = [...lines, `return ${result};`].join(' ');
  const combine = `fn combine(a: Element, b: Element) -> Element { ${body} }`;
  return [...functions.values(), combine, ''].join('\n');
}
