import type { Expr, FunctionExpr, Module } from '../../../ir/expr.ts';
import { formatType, type Type } from '../../../ir/type.ts';
import { mapFunctions, rewrite } from '../../../ir/visit.ts';
import { CompileLimitError } from '../../../../core/errors.ts';
import type { TypeInference } from '../../../inference/type-inference.ts';
import { copyFunction, freshNames, specialiseTypes, symbolsOf } from '../copy-function.ts';

/** So many instances of polymorphic functions: recursion at ever new types has no end. */
const MAX_INSTANCES = 1000;

/**
 * Calls instances of polymorphic functions in their place, one for the types that each is called at. The polymorphic ones
 * stay, for callers from outside.
 */
export function monomorphise(module: Module, types: TypeInference): Module {
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
    return { ...callee, name: instance(callee.name, fn, given) };
  };
  const calls = (fn: FunctionExpr): FunctionExpr => {
    const body = rewrite(fn.body, (expr) => {
      if (expr.kind !== 'call') return expr;
      const { typeArguments, ...plain } = expr;
      const callee = atTypes(expr.callee, typeArguments);
      if (callee !== undefined) return { ...plain, callee };
      const [first, ...captured] = expr.args;
      const isOperator = expr.callee.kind === 'operator';
      const closed = isOperator && first !== undefined ? atTypes(first, typeArguments) : undefined;
      return closed === undefined ? expr : { ...plain, args: [closed, ...captured] };
    });
    return { ...fn, body };
  };
  const isPlain = ({ typeParams = [] }: FunctionExpr): boolean => typeParams.length === 0;
  const own = mapFunctions(module, (fn) => (isPlain(fn) ? calls(fn) : fn));
  return { ...own, functions: new Map([...own.functions, ...made]) };
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
