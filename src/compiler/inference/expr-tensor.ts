import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { GraphTensor } from '../../ops/adjoint/graph-target.ts';
import type { Expr } from '../ir/expr.ts';

/** A tensor that an expression computes, for rules that write graphs of operators. */
export class ExprTensor implements GraphTensor {
  readonly expr: Expr;
  readonly dtype: TensorType['dtype'];
  readonly shape: TensorType['shape'];

  constructor(expr: Expr, { dtype, shape }: TensorType) {
    this.expr = expr;
    this.dtype = dtype;
    this.shape = shape;
  }
}

/** The expression of a tensor. */
export function exprOf(tensor: GraphTensor): Expr {
  if (tensor instanceof ExprTensor) return tensor.expr;
  throw new Error('internal: a tensor of another graph');
}
