import { partition } from './partition.ts';
import { primitiveCall } from './primitive-call.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { Expr, FunctionExpr } from '../../ir/expr.ts';
import { computeScopes } from '../../ir/walk/scopes.ts';
import { mapFunctions, withChildren } from '../../ir/walk/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Pass } from '../pass.ts';
import { variablesAround } from './symbol-carriers.ts';

/**
 * Puts the calls of operators into primitive functions, each of which becomes one kernel call. A
 * primitive function lies in one scope: no work moves into or out of a branch or a closure.
 */
export const fuse: Pass = {
  name: 'fuse',
  run(module, { types }) {
    return mapFunctions(module, (fn) => fuseFunction(fn, types, true));
  },
};

/** The place of {@link fuse} where nothing is fused: each call is a primitive function by itself. */
export const separate: Pass = {
  name: 'separate',
  run(module, { types }) {
    return mapFunctions(module, (fn) => fuseFunction(fn, types, false));
  },
};

function fuseFunction(fn: FunctionExpr, types: TypeInference, isFused: boolean): FunctionExpr {
  const scopes = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
  const groups = partition(scopes, types, isFused);
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  for (const expr of scopes.order) {
    const group = groups.of(expr);
    if (group === undefined) results.set(expr, withChildren(expr, resultOf));
    else if (group.last === expr) {
      const { last, device } = group;
      const calls = groups.callsOf(group);
      const variables = () => variablesAround(expr, scopes, fn);
      const parameters = fn.params;
      const context = { calls, device, resultOf, types, variables, parameters };
      results.set(expr, primitiveCall(last, context));
    }
  }
  const body = resultOf(fn.body);
  return body === fn.body ? fn : { ...fn, body };
}
