import { inferModule } from '../inference/infer-module.ts';
import { symbolsOfType } from '../inference/sizes/gather-dim-facts.ts';
import type { Expr, FunctionExpr } from '../ir/expr.ts';
import { mapFunctions, postOrder } from '../ir/walk/visit.ts';
import type { Pass } from './pass.ts';
import { resolveDimNames } from './dims/resolve-dim-names.ts';
import { functionToAnf } from './to-anf.ts';

/**
 * Infers the types of a module and writes them into it, so that a module that is not well-typed
 * fails here, with the place in the source, and not inside a later pass. After this pass the type of
 * a node follows from the node and the module's declarations.
 *
 * A name that a let gives to a size holds in its body. Where that is an operand, types around it may
 * mention the name, and the function is written in A-normal form, in which they stand in the body.
 */
export const inferTypes: Pass = {
  name: 'infer-types',
  run(module, { types, texts, onWarning }) {
    const typed = inferModule(module, { texts, onWarning, operators: types.operators });
    types.declare(typed);
    const inLine = mapFunctions(typed, (fn) => {
      if (!namesSizesInOperands(fn)) return fn;
      return functionToAnf(resolveDimNames(fn, types), (expr) => types.of(expr));
    });
    if (inLine !== typed) types.declare(inLine);
    return inLine;
  },
};

function namesSizesInOperands(fn: FunctionExpr): boolean {
  const given = new Set(fn.params.flatMap(({ type }) => (type ? [...symbolsOfType(type)] : [])));
  const namesSize = (expr: Expr): boolean => {
    for (let at = expr; at.kind === 'let'; at = at.body) {
      const { type } = at.variable;
      if (type?.kind !== 'tensor') continue;
      if ([...symbolsOfType(type)].some((symbol) => symbol !== '?' && !given.has(symbol)))
        return true;
    }
    return false;
  };
  return postOrder(fn.body).some((expr) => operandsOf(expr).some(namesSize));
}

/** Parts that are computed with the expression, before it. */
function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'call':
      return expr.args;
    case 'tuple':
      return expr.fields;
    case 'projection':
      return [expr.tuple];
    case 'let':
      return [expr.value];
    case 'if':
      return [expr.condition];
    case 'match':
      return [expr.value];
    default:
      return [];
  }
}
