import type { AdjointRule } from '../adjoint/adjoint.ts';
import { isFloat } from './number-dtypes.ts';

/** Also of small floats, which have no formula. */
export const castAdjoint: AdjointRule = ({ inputs: [x], output, cotangent, graph }) =>
  x !== undefined && isFloat(output.dtype) ? [graph.cast(cotangent, x.dtype)] : [];

/** Read off the result, so that the operand need not be kept, and what computes it can end in the relu. */
export const reluAdjoint: AdjointRule = ({ output, cotangent, graph }) => [
  graph.where(graph.lessEqual(output, 0), 0, cotangent),
];
