import type { Expr } from '../../compiler/ir/expr.ts';
import type { SymbolicTensor } from '../../compiler/values/symbolic-tensor.ts';

/**
 * What shape arithmetic has computed so far, by the variable that stands for it. No program reads
 * these variables: whoever takes one takes its value.
 */
export type ShapeValues = WeakMap<Expr, SymbolicTensor>;
