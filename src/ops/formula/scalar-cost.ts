import type { ScalarFunction } from '../define-op.ts';
import type { FormulaCall } from './expression.ts';
import { childrenOf, type TypedExpression, typedFormula } from './infer-types.ts';
import { INTRINSICS } from './intrinsics.ts';
import { renderScalar } from './wgsl/render-scalar.ts';

/**
 * About how many additions take as long as a scalar function on WebGPU; undefined where that is not
 * known, because it calls functions.
 */
export function scalarCost(scalar: ScalarFunction, call: FormulaCall): number | undefined {
  if (scalar.cost !== undefined) return scalar.cost;
  if (scalar.formula !== undefined) {
    const costs = intrinsicCosts(typedFormula(scalar.formula, call));
    if (costs.includes(undefined)) return undefined;
    if (costs.length > 0) return Math.max(...costs.map(Number));
  }
  return callsFunctions(scalar, call) ? undefined : 1;
}

/**
 * Returns true if the WGSL of a scalar function calls functions that have to be declared with it.
 */
export function callsFunctions(scalar: ScalarFunction, call: FormulaCall): boolean {
  let count = 0;
  renderScalar(scalar, call, {
    operands: call.dtypes.map((_, index) => `x${index}`),
    width: 1,
    bind: () => 'bound',
    declare: () => count++,
  });
  return count > 0;
}

function intrinsicCosts(node: TypedExpression): (number | undefined)[] {
  const own = node.kind === 'intrinsic' ? [INTRINSICS[node.name].cost] : [];
  return [...own, ...childrenOf(node).flatMap(intrinsicCosts)];
}
