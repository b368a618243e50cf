import type { CallExpr } from '../../ir/expr.ts';
import { isGradientOperator } from '../../ir/operators/gradient-operators.ts';
import { SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import { type Term, termOf } from '../../ir/term.ts';
import { type Type, UNIT_TYPE } from '../../ir/type.ts';
import { applyScalarOperator } from '../apply-scalar-operator.ts';
import type { InferenceContext } from '../inference-context.ts';

/**
 * The type of a derivative whose functions have known types, at once: its call is then inferred as
 * that of a function is. Undefined for all else, and for what the rule of the operator complains of.
 */
export function derivativeTerm(
  expr: CallExpr,
  op: string,
  context: Pick<InferenceContext, 'termOf' | 'unifier'>,
): Term | undefined {
  const scalar = SCALAR_OPERATORS.get(op);
  if (scalar === undefined || !isGradientOperator(op)) return undefined;
  let isOpen = false;
  const types = expr.args.map((arg): Type => {
    return context.unifier.typeOf(context.termOf(arg), () => {
      isOpen = true;
      return UNIT_TYPE;
    });
  });
  if (isOpen) return undefined;
  try {
    return termOf(applyScalarOperator(scalar, types, expr));
  } catch {
    return undefined;
  }
}
