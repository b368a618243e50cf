import type { Dim } from '../../core/dim.ts';
import type { DType } from '../../core/dtype.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import type {
  CallExpr,
  ConstantExpr,
  Expr,
  FunctionAttributes,
  FunctionExpr,
  Module,
  ProjectionExpr,
  Span,
  TupleExpr,
  VarExpr,
} from './expr.ts';
import { tensorType } from './type.ts';

/**
 * The builder: one function per kind of expression.
 *
 * ```ts
 * const x = variable('x', 'float32', ['n', 4]);
 * const y = call('relu', [call('add', [x, scalar(1)])]);
 * const module = moduleOf({ main: func([x], y) });
 * ```
 */
export function variable(name: string, dtype: DType, shape: readonly Dim[], span?: Span): VarExpr {
  return withSpan({ kind: 'var', name, type: tensorType({ dtype, shape }) }, span);
}

export function constant(value: HostTensor, span?: Span): ConstantExpr {
  return withSpan({ kind: 'constant', value }, span);
}

/** A constant of rank 0. */
export function scalar(value: number, dtype: DType = 'float32'): ConstantExpr {
  return constant(HostTensor.from(dtype, [], [value]));
}

/** A call of the operator `op`. */
export function call(
  op: string,
  args: readonly Expr[],
  attributes: Attributes = {},
  span?: Span,
): CallExpr {
  return withSpan({ kind: 'call', callee: { kind: 'operator', name: op }, args, attributes }, span);
}

export function callFunction(callee: FunctionExpr, args: readonly Expr[], span?: Span): CallExpr {
  return withSpan({ kind: 'call', callee, args, attributes: {} }, span);
}

export function func(
  params: readonly VarExpr[],
  body: Expr,
  attributes: FunctionAttributes = {},
): FunctionExpr {
  return { kind: 'function', params, body, attributes };
}

export function tuple(fields: readonly Expr[]): TupleExpr {
  return { kind: 'tuple', fields };
}

export function projection(of: Expr, index: number): ProjectionExpr {
  return { kind: 'projection', tuple: of, index };
}

export function moduleOf(
  functions: Readonly<Record<string, FunctionExpr>>,
  metadata: Readonly<Record<string, string>> = {},
): Module {
  return { functions: new Map(Object.entries(functions)), metadata };
}

function withSpan<T extends object>(node: T, span: Span | undefined): T {
  return span === undefined ? node : { ...node, span };
}
