import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { TypeCheckError } from '../../core/errors.ts';
import type { DimCheck } from '../../core/dims/symbolic-dims.ts';
import { type CallExpr, formatSpan } from '../ir/expr.ts';
import { formatType, type FunctionTypeNode, sameType, type Type } from '../ir/type.ts';
import { type AppliedTerm, applied, symbolsOfTerm, termOf } from '../ir/term.ts';
import { isDerivativeOfGlobal } from '../ir/operators/gradient-operators.ts';
import { Unifier } from './terms/unifier.ts';
import type { Variances } from './terms/variance.ts';

const UNIT: Type = { kind: 'tuple', fields: [] };

interface FunctionCall {
  readonly callee: FunctionTypeNode;
  readonly args: readonly Type[];
  readonly variances: Variances;
}

/**
 * The type of a call's result, and the dimensions that are compared when the program runs: the
 * function does so for its parameters when it is entered. Throws TypeCheckError. `variances`: of data types.
 */
export function applyFunction(
  expr: CallExpr,
  { callee, args, variances }: FunctionCall,
): { result: Type; checks: readonly DimCheck[] } {
  const where = formatSpan(expr.span, 'function call');
  if (args.length !== callee.params.length) {
    const got = args.length === 1 ? '1 argument' : `${args.length} arguments`;
    throw new TypeCheckError({ where, got, expected: String(callee.params.length) });
  }
  const isPolymorphic = (callee.typeParams?.length ?? 0) > 0;
  if (!isPolymorphic && args.every((arg, i) => isSame(arg, callee.params[i]))) {
    return { result: callee.result, checks: [] };
  }
  const unifier = new Unifier({ ownSizes: true, variances });
  const instance = instantiate(unifier, { expr, callee, args });
  const checks: DimCheck[] = [];
  for (const [i, arg] of args.entries()) {
    const param = instance.args[i] ?? termOf(UNIT);
    const place = `${where}, argument ${parameterName(expr, i)}`;
    const unequal = (got: Dim, expected: Dim): string =>
      `${place}: got dimension ${formatDim(got)}, expected ${formatDim(expected)}.`;
    const onCheck = (left: Dim, right: Dim): void => {
      checks.push({ left, right, message: unequal(left, right) });
    };
    const onMismatch = (got: Dim, expected: Dim): never => {
      throw new TypeCheckError(unequal(got, expected));
    };
    if (unifier.flow(termOf(arg), param, { atRunTime: true, onCheck, onMismatch })) continue;
    const expected = formatType(unifier.typeOf(param, () => UNIT));
    throw new TypeCheckError({ where: place, got: formatType(arg), expected });
  }
  unifier.settle();
  return { result: unifier.typeOf(instance.args.at(-1) ?? termOf(UNIT), () => UNIT), checks };
}

function isSame(arg: Type, param: Type | undefined): boolean {
  return param !== undefined && sameType(arg, param);
}

/**
 * Symbols of a global function are its own. Those of a closure may be of the function around it: so they are taken where
 * arguments have them too, and where no parameter could tell them.
 */
function instantiate(
  unifier: Unifier,
  { expr, callee, args }: { expr: CallExpr; callee: FunctionTypeNode; args: readonly Type[] },
): AppliedTerm {
  const term = termOf(callee);
  if (term.kind !== 'applied') throw new Error('internal: a function type is no application');
  const isOwn = expr.callee.kind === 'global' || isDerivativeOfGlobal(expr.callee);
  const scope = new Set<string>();
  if (!isOwn) {
    const bound = symbolsIn(callee.params);
    for (const symbol of symbolsIn(args)) scope.add(symbol);
    for (const symbol of symbolsIn([callee.result])) if (!bound.has(symbol)) scope.add(symbol);
  }
  return unifier.instantiate(term, { scope, given: expr.typeArguments?.map(termOf) }).term;
}

function symbolsIn(types: readonly Type[]): ReadonlySet<string> {
  return symbolsOfTerm(applied('tuple', '', types.map(termOf)), { intoFunctions: true });
}

function parameterName({ callee }: CallExpr, index: number): string | number {
  const params = callee.kind === 'function' ? callee.params : undefined;
  return params?.[index]?.name ?? index + 1;
}
