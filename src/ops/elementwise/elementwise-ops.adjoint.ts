import type { Adjoint, AdjointRule } from '../adjoint/adjoint.ts';
import { formulaAdjoint } from '../adjoint/formula-adjoint.ts';
import { ELEMENTWISE_OPS } from './elementwise-ops.ts';
import { isFloat } from './number-dtypes.ts';

const DISCRETE = [
  'is_nan',
  'is_positive_infinity',
  'equal',
  'less',
  'less_equal',
  'greater',
  'greater_equal',
  'logical_not',
  'bitwise_and',
  'bitwise_or',
  'bitwise_xor',
  'bitwise_not',
  'threefry',
  'shift_left',
  'shift_right',
];

const CONSTANT_IN_STEPS = ['floor', 'ceil', 'round', 'sign'];

/** Also of small floats, which have no formula. */
const castAdjoint: AdjointRule = ({ inputs: [x], output, cotangent, graph }) =>
  x !== undefined && isFloat(output.dtype) ? [graph.cast(cotangent, x.dtype)] : [];

/** Read off the result, so that the operand need not be kept, and what computes it can end in the relu. */
const reluAdjoint: AdjointRule = ({ output, cotangent, graph }) => [
  graph.where(graph.lessEqual(output, 0), 0, cotangent),
];

/** Those of operators that have formulas follow from them. */
export const ELEMENTWISE_ADJOINTS: Readonly<Record<string, Adjoint>> = {
  ...Object.fromEntries(
    ELEMENTWISE_OPS.flatMap(({ name, scalar }) =>
      scalar?.formula === undefined ? [] : [[name, formulaAdjoint(scalar.formula)] as const],
    ),
  ),
  ...Object.fromEntries(DISCRETE.map((name) => [name, 'discrete'] as const)),
  ...Object.fromEntries(CONSTANT_IN_STEPS.map((name) => [name, 'zero'] as const)),
  relu: reluAdjoint,
  cast: castAdjoint,
  bitcast: 'discrete',
};
