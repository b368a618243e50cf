import type { DType } from '../../core/tensor/dtype.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import { hostReason } from '../../ops/lowering/placement.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { VIEW_OPERATOR } from '../ir/host-values.ts';
import { type OperatorCall, operatorName } from '../ir/operators/operator-name.ts';
import { SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import type { TypeInference } from './type-inference.ts';

/** Why WebGPU cannot run a call, in words that follow "because"; undefined where it can, or there is no kernel. */
export function reasonForHost(expr: CallExpr, types: TypeInference): string | undefined {
  if (!isKernelCall(expr)) return undefined;
  const { callee, args, attributes } = expr;
  const op = types.operators.require(callee.name);
  const dtypeOf = (operand: Expr): DType | undefined => {
    const type = types.of(operand);
    return type.kind === 'tensor' ? type.dtype : undefined;
  };
  const output = dtypeOf(expr);
  if (output === undefined) throw new Error(`internal: ${callee.name} gives no tensor`);
  const complete = completeAttributes(op, attributes);
  return hostReason(op, { inputs: args.map(dtypeOf), output, attributes: complete });
}

/** Returns true if a call of an operator becomes a kernel, or a part of one. */
export function isKernelCall(expr: CallExpr): expr is OperatorCall {
  const name = operatorName(expr) || VIEW_OPERATOR;
  return !SCALAR_OPERATORS.has(name) && name !== VIEW_OPERATOR;
}
