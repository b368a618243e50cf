import type { Operator } from '../operator.ts';
import type { Adjoint } from './adjoint.ts';
import { CORE_ADJOINTS } from './core-adjoints.ts';
import { formulaAdjoint } from './formula-adjoint.ts';

/** The adjoint of an operator; undefined where it has none. Formulas say theirs. */
export function adjointOf(op: Operator): Adjoint | undefined {
  if (op.adjoint !== undefined) return op.adjoint;
  if (Object.hasOwn(CORE_ADJOINTS, op.name)) return CORE_ADJOINTS[op.name];
  const formula = op.scalar?.formula;
  return formula === undefined ? undefined : formulaAdjoint(formula);
}
