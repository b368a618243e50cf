import type { Dim } from '../../core/dims/dim.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { HOST_TENSOR, HostTensor } from '../../core/tensor/host-tensor.ts';
import { fits, listOf, type OptionKind, requireKind } from '../../core/check-options.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type {
  CallExpr,
  ConstantExpr,
  ConstructorExpr,
  ConstructorPattern,
  Expr,
  FunctionAttributes,
  FunctionExpr,
  FloatPattern,
  GlobalExpr,
  IfExpr,
  IntExpr,
  IntPattern,
  LetExpr,
  MatchExpr,
  Module,
  Pattern,
  ProjectionExpr,
  Span,
  TupleExpr,
  TuplePattern,
  VarExpr,
  WildcardPattern,
} from './expr.ts';
import {
  CUSTOM_GRADIENT,
  GRADIENT,
  JVP,
  STOP_GRADIENT,
  VJP,
} from './operators/gradient-operators.ts';
import { ASSERT, CALL_PACKED, FLOAT, PRINT, STOP } from './operators/scalar-operators.ts';
import { tensorType, type Type, type TypeDefinition, UNIT_TYPE } from './type.ts';

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
  requireKind('variable', 'dtype', ['dtype', dtype]);
  requireKind('variable', 'list', ['the shape', shape]);
  return withSpan({ kind: 'var', name, type: tensorType({ dtype, shape }) }, span);
}

/** A tensor that is known when the program is compiled. */
export function constant(value: HostTensor, span?: Span): ConstantExpr {
  requireKind('constant', HOST_TENSOR, ['what is', value]);
  return withSpan({ kind: 'constant', value }, span);
}

/** A variable of any type, or of one that is to be inferred. */
export function variableOf(name: string, type?: Type, span?: Span): VarExpr {
  return withSpan({ kind: 'var', name, type }, span);
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

/** A call of a function: a global, a variable, a function that stands here, … */
export function callFunction(callee: Expr, args: readonly Expr[], span?: Span): CallExpr {
  return withSpan({ kind: 'call', callee, args, attributes: {} }, span);
}

/** A value of an algebraic data type: `construct('Cons', [head, tail])`. */
export function construct(name: string, args: readonly Expr[], span?: Span): CallExpr {
  return callFunction(constructorOf(name), args, span);
}

/** A constructor as a function. */
export function constructorOf(name: string): ConstructorExpr {
  return { kind: 'constructor', name };
}

/** The global function `name` of the module. */
export function global(name: string): GlobalExpr {
  return { kind: 'global', name };
}

/** An integer of the host. */
export function int(value: number): IntExpr {
  return { kind: 'int', value };
}

/** A number of the host with a fraction. */
export function float(value: number): CallExpr {
  return call(FLOAT, [], { value });
}

/**
 * A function of JavaScript, which programs call by the global name that they give it, `extern def` in
 * texts: whoever loads the program supplies the function `name`. Parameters and the result have types, and
 * what the function gives is checked against its own. It may have effects: bind its calls by `let` where their
 * order matters.
 */
export function extern(name: string, params: readonly VarExpr[], resultType: Type): FunctionExpr {
  const body = { ...call(CALL_PACKED, params, { name }), typeArguments: [resultType] };
  return { ...func(params, body), resultType };
}

/** Writes a message and values to the log of the session, where the `let` stands that binds it. */
export function print(message: string, values: readonly Expr[] = []): CallExpr {
  return call(PRINT, values, { message });
}

/** Ends the program with a message unless a bool tensor of rank 0 is true, or an int is not 0. */
export function assertThat(condition: Expr, message: string): CallExpr {
  return call(ASSERT, [condition], { message });
}

/** Ends the program with a message, where a value of the type would be. Default: `()`. */
export function fatal(message: string, type: Type = UNIT_TYPE): CallExpr {
  return { ...call(STOP, [], { message }), typeArguments: [type] };
}

/**
 * The function that gives the result of another, a float of rank 0, and its derivatives with respect to all
 * parameters: `callFunction(gradient(global('loss')), [weights])` gives `(loss, (gradient,))`.
 */
export function gradient(fn: Expr): CallExpr {
  return call(GRADIENT, [fn]);
}

/** The function that takes a cotangent of another's result too, and gives the result and those of parameters. */
export function vjp(fn: Expr): CallExpr {
  return call(VJP, [fn]);
}

/** The function that takes tangents of another's parameters too, and gives the result and its tangent. */
export function jvp(fn: Expr): CallExpr {
  return call(JVP, [fn]);
}

/** A function whose adjoint takes its arguments, its result and a cotangent of that. */
export function customGradient(fn: Expr, adjoint: Expr): CallExpr {
  return call(CUSTOM_GRADIENT, [fn, adjoint]);
}

/** The value, through which no derivative goes. */
export function stopGradient(value: Expr): CallExpr {
  return call(STOP_GRADIENT, [value]);
}

/** `let variable = value; body` */
export function letIn(variable: VarExpr, value: Expr, body: Expr): LetExpr {
  return { kind: 'let', variable, value, body };
}

/** Ends the program with the message of an error, where a value of the type would be. */
export function stopOf({ message }: Error, type: Type): CallExpr {
  return fatal(message, type);
}

/** One of two values; the condition is a bool tensor of rank 0, or an int, where 0 is false. */
export function ifElse(condition: Expr, thenBranch: Expr, elseBranch: Expr): IfExpr {
  return { kind: 'if', condition, thenBranch, elseBranch };
}

const CLAUSES = listOf(['[pattern, result]', (pair) => Object(pair).length === 2]);

/**
 * The first clause that fits:
 *
 * ```ts
 * match(list, [
 *   [constructorPattern('Cons', [head, wildcard()]), head],
 *   [constructorPattern('Nil'), zero],
 * ]);
 * ```
 *
 * A variable stands for the pattern that binds it.
 */
export function match(
  value: Expr,
  clauses: readonly (readonly [Pattern | VarExpr, Expr])[],
  { complete = true }: { complete?: boolean } = {},
): MatchExpr {
  requireKind('match', CLAUSES, ['clauses', clauses]);
  return {
    kind: 'match',
    value,
    clauses: clauses.map(([pattern, body]) => ({ pattern: asPattern(pattern), body })),
    complete,
  };
}

/** The pattern `_`, which everything fits. */
export function wildcard(): WildcardPattern {
  return { kind: 'wildcard' };
}

/** The pattern of values that a constructor made; a variable binds a field. */
export function constructorPattern(
  name: string,
  fields: readonly (Pattern | VarExpr)[] = [],
): ConstructorPattern {
  return { kind: 'constructor-pattern', constructor: name, fields: patternsOf(fields) };
}

/** The pattern of tuples; a variable binds a field. */
export function tuplePattern(fields: readonly (Pattern | VarExpr)[]): TuplePattern {
  return { kind: 'tuple-pattern', fields: patternsOf(fields) };
}

/** The pattern of one int of the host. */
export function intPattern(value: number): IntPattern {
  return { kind: 'int-pattern', value };
}

/** The pattern of one float of the host. */
export function floatPattern(value: number): FloatPattern {
  return { kind: 'float-pattern', value };
}

function patternsOf(fields: readonly (Pattern | VarExpr)[]): readonly Pattern[] {
  requireKind('pattern', listOf('object'), ['fields', fields]);
  return fields.map(asPattern);
}

function asPattern(pattern: Pattern | VarExpr): Pattern {
  return pattern.kind === 'var' ? { kind: 'var-pattern', variable: pattern } : pattern;
}

/** A function. `main` of a module is one, with a name for each result. */
export function func(
  params: readonly VarExpr[],
  body: Expr,
  attributes: FunctionAttributes = {},
): FunctionExpr {
  return { kind: 'function', params, body, attributes };
}

/** A function with type parameters: `fn<A, B>(...) -> resultType`. */
export function polymorphic(
  typeParams: readonly string[],
  fn: FunctionExpr,
  resultType?: Type,
): FunctionExpr {
  return { ...fn, typeParams, ...(resultType === undefined ? {} : { resultType }) };
}

/** A tuple of values. */
export function tuple(fields: readonly Expr[]): TupleExpr {
  return { kind: 'tuple', fields };
}

/** A field of a tuple, by its number from 0. */
export function projection(of: Expr, index: number): ProjectionExpr {
  return { kind: 'projection', tuple: of, index };
}

const isFunction = (fn: unknown): boolean => Object(fn).kind === 'function';
const FUNCTIONS: OptionKind = [
  'functions by their names',
  (value) => fits('object', value) && Object.values(Object(value)).every(isFunction),
];

/** A module. Metadata are facts that travel into the executable. */
export function moduleOf(
  functions: Readonly<Record<string, FunctionExpr>>,
  metadata: Readonly<Record<string, string>> = {},
  types: readonly TypeDefinition[] = [],
): Module {
  requireKind('moduleOf', FUNCTIONS, ['functions', functions]);
  return {
    functions: new Map(Object.entries(functions)),
    types: new Map(types.map((type) => [type.name, type])),
    metadata,
  };
}

function withSpan<T extends object>(node: T, span: Span | undefined): T {
  return span === undefined ? node : { ...node, span };
}
