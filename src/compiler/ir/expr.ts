import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import type { Type } from './type.ts';

/**
 * A functional program in graph form, as Relay has it: an expression that is referred to twice is
 * one shared node and is computed once. Nodes are immutable plain data; identity is sharing.
 */
export type Expr =
  | VarExpr
  | ConstantExpr
  | OperatorExpr
  | CallExpr
  | FunctionExpr
  | TupleExpr
  | ProjectionExpr;

/** Where a node comes from, for messages: the name of a node in the source model. */
export interface Span {
  readonly source: string;
}

/** A parameter of a function. Two variables are the same only if they are the same node. */
export interface VarExpr {
  readonly kind: 'var';
  readonly name: string;
  readonly type: Type;
  readonly span?: Span;
}

export interface ConstantExpr {
  readonly kind: 'constant';
  readonly value: HostTensor;
  readonly span?: Span;
}

/** An operator of `ops/`, as the callee of a call. */
export interface OperatorExpr {
  readonly kind: 'operator';
  readonly name: string;
}

/** A call of an operator or of a function. Absent trailing optional operands are left out. */
export interface CallExpr {
  readonly kind: 'call';
  readonly callee: OperatorExpr | FunctionExpr;
  readonly args: readonly Expr[];
  /** Attributes of the operator; empty for functions. */
  readonly attributes: Attributes;
  readonly span?: Span;
}

export interface FunctionExpr {
  readonly kind: 'function';
  readonly params: readonly VarExpr[];
  readonly body: Expr;
  readonly attributes: FunctionAttributes;
  readonly span?: Span;
}

export interface FunctionAttributes {
  /** Marks a fused function that becomes one kernel, and names it (Relay's `Primitive`). */
  readonly primitive?: string;
  /** Names of the results for callers from outside, one for each field of a tuple body. */
  readonly resultNames?: readonly string[];
}

export interface TupleExpr {
  readonly kind: 'tuple';
  readonly fields: readonly Expr[];
  readonly span?: Span;
}

/** A field of a tuple: `%t.0`. */
export interface ProjectionExpr {
  readonly kind: 'projection';
  readonly tuple: Expr;
  readonly index: number;
  readonly span?: Span;
}

/** A program: global functions by name. `main` is the one that a session runs. */
export interface Module {
  readonly functions: ReadonlyMap<string, FunctionExpr>;
  /** Facts about the program that travel into the executable, such as its producer. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** `node "Conv_0"`, or what is at hand instead. */
export function formatSpan(span: Span | undefined, otherwise: string): string {
  return span === undefined ? otherwise : `node "${span.source}"`;
}
