import type { AdjointLookup } from '../../../ops/adjoint/adjoint.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { CallExpr, Expr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import type { Emitter } from './emitter.ts';
import type { KnownFunctions } from './known-function.ts';
import type { TypedValues } from './typed-values.ts';

/** Variables, functions and symbols that are known where a function is differentiated. */
interface FunctionScope {
  /** Variables that get derivatives. */
  readonly active: Set<Expr>;
  readonly known: KnownFunctions;
  /** Symbols that code may mention. */
  readonly symbols: Set<string>;
  /** All names of symbols of the function. */
  readonly taken: Set<string>;
}

/** A block that is differentiated: what is known in it, and what takes its code. */
export interface BlockPlace {
  readonly program: DerivativeContext;
  readonly scope: FunctionScope;
  readonly emitter: Emitter;
}

/** A block inside another one, with an emitter of its own. */
export function innerPlace({ program, scope }: BlockPlace, emitter: Emitter): BlockPlace {
  const { active, known, symbols, taken } = scope;
  const inner = { active, known: new Map(known), symbols: new Set(symbols), taken };
  return { program, scope: inner, emitter };
}

export interface Signature {
  readonly params: readonly Type[];
  readonly result: Type;
}

/** The program around a function that is differentiated. */
export interface DerivativeContext {
  readonly types: TypeInference;
  readonly values: TypedValues;
  readonly lookup: AdjointLookup;
  /** The types of a function's parameters and result. */
  signature(name: string): Signature;
  /**
   * The function and arguments of a call, without parameters that are functions and without type
   * parameters: a version of the function in which these are known.
   */
  specialise(
    expr: CallExpr,
    name: string,
    known: KnownFunctions,
  ): { readonly name: string; readonly args: readonly Expr[] };
  /** A function that gives the result of another and a function from its cotangent to the parameters'. */
  vjp(name: string): string;
  /** A function from arguments and their tangents to the result and its tangent. */
  jvp(name: string): string;
}
