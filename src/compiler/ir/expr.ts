import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
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

/** The place of the source that a node comes from, for messages. */
export type Span = SourcePlace;

/** A variable. Two are the same only if they are the same node; one node is bound in one place. */
export interface VarExpr {
  /** Tells expressions apart. */
  readonly kind: 'var';
  /** Its name in texts; two variables may have the same. */
  readonly name: string;
  /** Absent until it is inferred. */
  readonly type?: Type | undefined;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** A tensor that is known when the program is compiled. */
export interface ConstantExpr {
  /** Tells expressions apart. */
  readonly kind: 'constant';
  readonly value: HostTensor;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** An integer of the host, such as a dimension. */
export interface IntExpr {
  /** Tells expressions apart. */
  readonly kind: 'int';
  readonly value: number;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** An operator of `ops/` or a scalar operator of the IR, as the callee of a call. */
export interface OperatorExpr {
  /** Tells expressions apart. */
  readonly kind: 'operator';
  readonly name: string;
}

/** A constructor of a type of the module: a callee, or a function as a value. */
export interface ConstructorExpr {
  /** Tells expressions apart. */
  readonly kind: 'constructor';
  readonly name: string;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** A global function of the module: `@name`. */
export interface GlobalExpr {
  /** Tells expressions apart. */
  readonly kind: 'global';
  /** The name of the function, without `@`. */
  readonly name: string;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** A call. Absent trailing optional operands of operators are left out. */
export interface CallExpr {
  /** Tells expressions apart. */
  readonly kind: 'call';
  /** The callee. */
  readonly callee: Expr;
  /** Its arguments, in order. */
  readonly args: readonly Expr[];
  /** Attributes of the operator; empty for all other callees. */
  readonly attributes: Attributes;
  /** The types that the callee's type parameters stand for; filled in by inference. */
  readonly typeArguments?: readonly Type[];
  /** The device that the call of an operator has to run on: `on_device="host"`. */
  readonly onDevice?: DeviceName | undefined;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** The name that an annotation of a call with a device has in texts. */
export const ON_DEVICE = 'on_device';

/** `session` is the device of the session, which may be a GPU or the host as well. */
export type DeviceName = 'host' | 'session';

/** A function; one that is no global function may be a closure. */
export interface FunctionExpr {
  /** Tells expressions apart. */
  readonly kind: 'function';
  /** Names of the type parameters of a polymorphic function. */
  readonly typeParams?: readonly string[];
  /** Its parameters, in order. */
  readonly params: readonly VarExpr[];
  /** Absent until it is inferred. */
  readonly resultType?: Type | undefined;
  /** The expression whose value it gives. */
  readonly body: Expr;
  /** Marks that passes leave. */
  readonly attributes: FunctionAttributes;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** Facts about a function beside its type. */
export interface FunctionAttributes {
  /** Marks a fused function that becomes one kernel, and names it (Relay's `Primitive`). */
  readonly primitive?: string;
  /** Where a primitive function runs, if not on the session's device. */
  readonly device?: 'host';
  /** The parameter of a primitive function in whose memory its result may lie. */
  readonly inPlace?: number;
  /** Names of the results for callers from outside, one for each field of a tuple body. */
  readonly resultNames?: readonly string[];
  /** Sizes that symbols in the types of parameters may have; a call with others is refused. */
  readonly bounds?: SymbolBounds;
  /**
   * Marks a function that was inside another before `lambda-lift`, and counts its last parameters
   * that are captured values.
   */
  readonly captured?: number;
  /** Marks a global function that only the program calls: no entry for sessions, gone once nothing calls it. */
  readonly private?: true;
}

/** The least and the largest size by symbol, both included. */
export type SymbolBounds = Readonly<Record<string, readonly [min: number, max: number]>>;

/** A tuple: `(%a, %b)`. */
export interface TupleExpr {
  /** Tells expressions apart. */
  readonly kind: 'tuple';
  /** Its fields, in order. */
  readonly fields: readonly Expr[];
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** A field of a tuple: `%t.0`. */
export interface ProjectionExpr {
  /** Tells expressions apart. */
  readonly kind: 'projection';
  readonly tuple: Expr;
  readonly index: number;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** `let variable = value; body`: the value is computed here, before the body. */
export interface LetExpr {
  /** Tells expressions apart. */
  readonly kind: 'let';
  readonly variable: VarExpr;
  readonly value: Expr;
  /** The expression in which the variable is bound. */
  readonly body: Expr;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** The condition is a bool tensor of rank 0, or an int, where 0 is false. */
export interface IfExpr {
  /** Tells expressions apart. */
  readonly kind: 'if';
  /** A bool tensor of rank 0, or an int, where 0 is false. */
  readonly condition: Expr;
  /** The value where the condition is true. */
  readonly thenBranch: Expr;
  /** The value where it is false. */
  readonly elseBranch: Expr;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** The first clause whose pattern fits. */
export interface MatchExpr {
  /** Tells expressions apart. */
  readonly kind: 'match';
  readonly value: Expr;
  /** Clauses in the order in which they are tried. */
  readonly clauses: readonly Clause[];
  /**
   * True if the clauses have to cover every value; otherwise a value that no clause matches is a
   * run-time error.
   */
  readonly complete: boolean;
  /** Where it stands in the source. */
  readonly span?: Span;
}

/** One case of a match. */
export interface Clause {
  /** The pattern that has to fit. */
  readonly pattern: Pattern;
  /** The value then; variables of the pattern are bound in it. */
  readonly body: Expr;
}

/** A pattern that values of a match may have. */
export type Pattern =
  | WildcardPattern
  | VarPattern
  | ConstructorPattern
  | TuplePattern
  | IntPattern
  | FloatPattern;

/** `_` */
export interface WildcardPattern {
  readonly kind: 'wildcard';
}

/** Fits everything, and binds it. */
interface VarPattern {
  readonly kind: 'var-pattern';
  readonly variable: VarExpr;
}

/** Fits values that a constructor made and whose fields fit. */
export interface ConstructorPattern {
  readonly kind: 'constructor-pattern';
  readonly constructor: string;
  /** Patterns of its fields, in order. */
  readonly fields: readonly Pattern[];
}

/** Fits tuples whose fields fit. */
export interface TuplePattern {
  readonly kind: 'tuple-pattern';
  /** Patterns of its fields, in order. */
  readonly fields: readonly Pattern[];
}

/** `#3`: fits the int of this value. */
export interface IntPattern {
  readonly kind: 'int-pattern';
  readonly value: number;
}

/** `#0.5`: fits the float of this value, as `float_eq` compares: -0 is 0. */
export interface FloatPattern {
  readonly kind: 'float-pattern';
  /** Any number but NaN, which equals nothing. */
  readonly value: number;
}

/** A program: global functions by name. `main` is the one that a session runs. */
export interface Module {
  /** Global functions by name, without `@`. */
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
  return span === undefined ? otherwise : formatPlace(span);
}
