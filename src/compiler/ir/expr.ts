import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import type { Type, TypeDefinition } from './type.ts';

/**
 * A functional program in graph form, as Relay has it: an expression that is referred to twice is
 * one shared node and is computed once, at the innermost scope that holds all its uses. Nodes are
 * immutable plain data; identity is sharing.
 */
export type Expr =
  | VarExpr
  | ConstantExpr
  | IntExpr
  | OperatorExpr
  | ConstructorExpr
  | GlobalExpr
  | CallExpr
  | FunctionExpr
  | TupleExpr
  | ProjectionExpr
  | LetExpr
  | IfExpr
  | MatchExpr;

/** Where a node comes from, for messages. */
export interface Span {
  /** The name of a node in the source model; the name of the file where there is a line. */
  readonly source: string;
  /** Line and column in a text, from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** A variable. Two are the same only if they are the same node; one node is bound in one place. */
export interface VarExpr {
  readonly kind: 'var';
  readonly name: string;
  /** Absent until it is inferred. */
  readonly type?: Type | undefined;
  readonly span?: Span;
}

export interface ConstantExpr {
  readonly kind: 'constant';
  readonly value: HostTensor;
  readonly span?: Span;
}

/** An integer of the host, such as a dimension. */
export interface IntExpr {
  readonly kind: 'int';
  readonly value: number;
  readonly span?: Span;
}

/** An operator of `ops/` or a scalar operator of the IR, as the callee of a call. */
export interface OperatorExpr {
  readonly kind: 'operator';
  readonly name: string;
}

/** A constructor of a type of the module: a callee, or a function as a value. */
export interface ConstructorExpr {
  readonly kind: 'constructor';
  readonly name: string;
  readonly span?: Span;
}

/** A global function of the module: `@name`. */
export interface GlobalExpr {
  readonly kind: 'global';
  readonly name: string;
  readonly span?: Span;
}

/** A call. Absent trailing optional operands of operators are left out. */
export interface CallExpr {
  readonly kind: 'call';
  readonly callee: Expr;
  readonly args: readonly Expr[];
  /** Attributes of the operator; empty for all other callees. */
  readonly attributes: Attributes;
  /** What the type parameters of the callee stand for; filled in by inference. */
  readonly typeArguments?: readonly Type[];
  /** Where the call of an operator has to run: `on_device="host"`. */
  readonly onDevice?: DeviceName | undefined;
  readonly span?: Span;
}

/** The name that an annotation of a call with a device has in texts. */
export const ON_DEVICE = 'on_device';

/** `session` is the device of the session, which may be a GPU or the host as well. */
export type DeviceName = 'host' | 'session';

export interface FunctionExpr {
  readonly kind: 'function';
  readonly typeParams?: readonly string[];
  readonly params: readonly VarExpr[];
  /** Absent until it is inferred. */
  readonly resultType?: Type | undefined;
  readonly body: Expr;
  readonly attributes: FunctionAttributes;
  readonly span?: Span;
}

export interface FunctionAttributes {
  /** Marks a fused function that becomes one kernel, and names it (Relay's `Primitive`). */
  readonly primitive?: string;
  /** Where a primitive function runs, if not on the session's device. */
  readonly device?: 'host';
  /** Names of the results for callers from outside, one for each field of a tuple body. */
  readonly resultNames?: readonly string[];
  /** Sizes that symbols in the types of parameters may have; a call with others is refused. */
  readonly bounds?: SymbolBounds;
  /**
   * Marks a function that was inside another before `lambda-lift`, and counts its last parameters
   * that are captured values.
   */
  readonly captured?: number;
}

/** The least and the largest size by symbol, both included. */
export type SymbolBounds = Readonly<Record<string, readonly [min: number, max: number]>>;

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

/** `let variable = value; body`: the value is computed here, before the body. */
export interface LetExpr {
  readonly kind: 'let';
  readonly variable: VarExpr;
  readonly value: Expr;
  readonly body: Expr;
  readonly span?: Span;
}

/** The condition is a bool tensor of rank 0, or an int, where 0 is false. */
export interface IfExpr {
  readonly kind: 'if';
  readonly condition: Expr;
  readonly thenBranch: Expr;
  readonly elseBranch: Expr;
  readonly span?: Span;
}

/** The first clause whose pattern fits. */
export interface MatchExpr {
  readonly kind: 'match';
  readonly value: Expr;
  readonly clauses: readonly Clause[];
  /** Whether the clauses have to cover every value; else one that none fits is a run-time error. */
  readonly complete: boolean;
  readonly span?: Span;
}

export interface Clause {
  readonly pattern: Pattern;
  readonly body: Expr;
}

export type Pattern = WildcardPattern | VarPattern | ConstructorPattern | TuplePattern;

/** `_` */
export interface WildcardPattern {
  readonly kind: 'wildcard';
}

export interface VarPattern {
  readonly kind: 'var-pattern';
  readonly variable: VarExpr;
}

export interface ConstructorPattern {
  readonly kind: 'constructor-pattern';
  readonly constructor: string;
  readonly fields: readonly Pattern[];
}

export interface TuplePattern {
  readonly kind: 'tuple-pattern';
  readonly fields: readonly Pattern[];
}

/** A program: global functions by name. `main` is the one that a session runs. */
export interface Module {
  readonly functions: ReadonlyMap<string, FunctionExpr>;
  /** Algebraic data types by name. Names of constructors are unique in a module. */
  readonly types: ReadonlyMap<string, TypeDefinition>;
  /** Facts about the program that travel into the executable, such as its producer. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The place of an expression in its source; undefined where none is known. */
export function spanOf(expr: Expr): Span | undefined {
  return expr.kind === 'operator' ? undefined : expr.span;
}

/** `node "Conv_0"`, `file.ir:3:14`, or what is at hand instead. */
export function formatSpan(span: Span | undefined, otherwise: string): string {
  if (span === undefined) return otherwise;
  if (span.line === undefined) return `node "${span.source}"`;
  return `${span.source}:${span.line}:${span.column ?? 1}`;
}
