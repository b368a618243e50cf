import type { Expr, FunctionExpr, Module } from '../../../ir/expr.ts';
import { formatType, type Type } from '../../../ir/type.ts';
import { mapFunctions, rewrite } from '../../../ir/visit.ts';
import { CompileLimitError } from '../../../../core/errors.ts';
import type { TypeInference } from '../../../inference/type-inference.ts';
import {
  boundSymbols,
  copyFunction,
  freshNames,
  specialiseTypes,
  symbolsOf,
} from '../copy-function.ts';
import { newNames, withSizes } from './held-sizes.ts';
import { withoutSizes } from './type-parts.ts';

/** So many instances of polymorphic functions: recursion at ever new types has no end. */
const MAX_INSTANCES = 1000;

/** A program whose own calls are of functions without type parameters. */
export interface Monomorphic {
  readonly module: Module;
  /** The names of instances of polymorphic functions. */
  readonly instances: ReadonlySet<string>;
}

/**
 * Calls instances of polymorphic functions in their place, one for the types that each is called at: one for tensors of
 * all sizes, which an instance knows nothing of. The polymorphic ones stay, for callers from outside.
 */
export function monomorphise(module: Module, types: TypeInference): Monomorphic {
  const made = new Map<string, FunctionExpr>();
  const names = new Map<string, string>();
  const instance = (name: string, fn: FunctionExpr, given: readonly Type[]): string => {
    const key = `${name}<${given.map(formatType).join(', ')}>`;
    const known = names.get(key);
    if (known !== undefined) return known;
    if (names.size >= MAX_INSTANCES) {
      throw new CompileLimitError({
        where: `gradient: @${name}`,
        got: `more than ${MAX_INSTANCES} types that polymorphic functions are called at`,
        expected: 'recursion at the same types',
      });
    }
    let own = `${name}.at_${names.size}`;
    while (module.functions.has(own)) own += '_';
    names.set(key, own);
    made.set(own, fn);
    made.set(own, calls(instantiate(fn, given, types)));
    return own;
  };
  const atTypes = (callee: Expr, given: readonly Type[] | undefined): Expr | undefined => {
    const fn = callee.kind === 'global' ? module.functions.get(callee.name) : undefined;
    const isInstance = callee.kind === 'global' && fn !== undefined && given !== undefined;
    if (!isInstance || (fn.typeParams ?? []).length === 0) return undefined;
    const whole = given.map((type) => withoutSizes(type));
    return { ...callee, name: instance(callee.name, fn, whole) };
  };
  const calls = (fn: FunctionExpr): FunctionExpr => {
    const newSize = newNames(new Set(boundSymbols(fn)));
    const body = rewrite(fn.body, (expr, original) => {
      if (expr.kind !== 'call') return expr;
      const { typeArguments, ...plain } = expr;
      const callee = atTypes(expr.callee, typeArguments);
      if (callee !== undefined) {
        return withSizes({ ...plain, callee }, types.of(original), newSize);
      }
      const [first, ...captured] = expr.args;
      const isOperator = expr.callee.kind === 'operator';
      const closed = isOperator && first !== undefined ? atTypes(first, typeArguments) : undefined;
      return closed === undefined ? expr : { ...plain, args: [closed, ...captured] };
    });
    return { ...fn, body };
  };
  const isPlain = ({ typeParams = [] }: FunctionExpr): boolean => typeParams.length === 0;
  const own = mapFunctions(module, (fn) => (isPlain(fn) ? calls(fn) : fn));
  return {
    module: { ...own, functions: new Map([...own.functions, ...made]) },
    instances: new Set(made.keys()),
  };
}

/** The function at types, with other names for its sizes than these have. */
function instantiate(
  fn: FunctionExpr,
  given: readonly Type[],
  { operators }: TypeInference,
): FunctionExpr {
  const taken = new Set(given.flatMap((type) => symbolsOf(type)));
  const copy = copyFunction(fn, freshNames(fn, { known: new Set(), taken }), operators);
  const params = fn.typeParams ?? [];
  const types = new Map(params.flatMap((param, i) => (given[i] ? [[param, given[i]]] : [])));
  const own = specialiseTypes(copy, types);
  return { ...own, attributes: { ...own.attributes, private: true } };
}
