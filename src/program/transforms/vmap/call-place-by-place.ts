import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { apply } from '../../apply.ts';
import type { ArrayState } from '../../array-state.ts';
import { scan } from '../../control-flow.ts';
import { type NdArray, wrap } from '../../nd-array.ts';

interface Operand {
  readonly state: ArrayState;
  readonly isMapped: boolean;
}

/** A call for each place along the first axis of mapped operands, one after the other, and the results together. */
export function callPlaceByPlace(
  name: string,
  operands: readonly Operand[],
  attributes: Attributes,
): Expr {
  const mapped = operands.filter(({ isMapped }) => isMapped).map(({ state }) => wrap(state));
  const [, { result }] = scan({ none: [] }, mapped, (none, rows: readonly NdArray[]) => {
    let next = 0;
    const args = operands.map(({ state, isMapped }) => (isMapped ? rows[next++]?.state : state));
    return [none, { result: wrap(apply(name, args, attributes)) }];
  });
  return result.state.expr;
}
