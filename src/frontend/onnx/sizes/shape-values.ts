import type { Expr } from '../../../compiler/ir/expr.ts';
import type { SymbolicTensor } from '../../../compiler/values/symbolic-tensor.ts';

/**
 * Results of shape arithmetic so far, by their variables. No program reads
 * these variables: whoever takes one takes its value.
 */
export type ShapeValues = WeakMap<Expr, SymbolicTensor>;
