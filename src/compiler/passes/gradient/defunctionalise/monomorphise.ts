import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
  type Span,
} from '../../../ir/expr.ts';
import { formatType, partsOfType, type Type } from '../../../ir/type.ts';
import { mapFunctions, rewrite } from '../../../ir/walk/visit.ts';
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

/** So many instances of polymorphic functions, and parts of their types: recursion at ever new types has no end. */
const MAX_INSTANCES = 1000;
const MAX_PARTS = 50_000;

/** A program whose own calls are of functions without type parameters. */
interface Monomorphic {
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
  let parts = 0;
  const tooMany = (got: string, { name, span }: Caller) =>
    new CompileLimitError({
      where: `${formatSpan(span, 'gradient')}, @${name}`,
      got: `more than ${got} that polymorphic functions are called at`,
      expected: 'recursion at the same types',
    });
  const instance = ({ name, span }: Caller, fn: FunctionExpr, given: readonly Type[]): string => {
    for (const type of given) {
      parts += countParts(type);
      if (parts > MAX_PARTS) throw tooMany(`${MAX_PARTS} parts of types`, { name, span });
    }
    const key = `${name}<${given.map(formatType).join(', ')}>`;
    const known = names.get(key);
    if (known !== undefined) return known;
    if (names.size >= MAX_INSTANCES) throw tooMany(`${MAX_INSTANCES} types`, { name, span });
    let own = `${name}.at_${names.size}`;
    while (module.functions.has(own)) own += '_';
    names.set(key, own);
    made.set(own, fn);
    made.set(own, calls(instantiate(fn, given, types)));
    return own;
  };
  const atTypes = (call: CallExpr, callee: Expr): Expr | undefined => {
    const { typeArguments: given, span } = call;
    const fn = callee.kind === 'global' ? module.functions.get(callee.name) : undefined;
    const isInstance = callee.kind === 'global' && fn !== undefined && given !== undefined;
    if (!isInstance || (fn.typeParams ?? []).length === 0) return undefined;
    const whole = given.map((type) => withoutSizes(type));
    return { ...callee, name: instance({ name: callee.name, span }, fn, whole) };
  };
  const calls = (fn: FunctionExpr): FunctionExpr => {
    const newSize = newNames(new Set(boundSymbols(fn)));
    const body = rewrite(fn.body, (expr, original) => {
      if (expr.kind !== 'call') return expr;
      const { typeArguments: _, ...plain } = expr;
      const callee = atTypes(expr, expr.callee);
      if (callee !== undefined) {
        return withSizes({ ...plain, callee }, types.of(original), newSize);
      }
      const [first, ...captured] = expr.args;
      const isOperator = expr.callee.kind === 'operator';
      const closed = isOperator && first !== undefined ? atTypes(expr, first) : undefined;
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

/** A function that is called somewhere. */
interface Caller {
  readonly name: string;
  readonly span: Span | undefined;
}

/** Parts of a type as a tree, no more than are too many. */
function countParts(root: Type): number {
  let count = 0;
  const stack = [root];
  for (let type = stack.pop(); type !== undefined && count <= MAX_PARTS; type = stack.pop()) {
    count++;
    stack.push(...partsOfType(type));
  }
  return count;
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
