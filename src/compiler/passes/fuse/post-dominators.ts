import { type AncestorNode, below, commonAncestor } from '../../ir/ancestors.ts';
import type { Expr } from '../../ir/expr.ts';
import { type Dataflow, isView } from './dataflow.ts';

interface Node extends AncestorNode<Node> {
  readonly expr: Expr;
}

/**
 * The immediate post-dominator of each call of an operator: the first call through which all that
 * is computed from its value goes. A call has none if its value leaves the scope, or goes to what is
 * no operator, without passing through one call.
 *
 * The dataflow of a function has no cycles, so one walk from the results backwards is enough: the
 * post-dominator is the lowest common ancestor of the readers in the tree of those that are known
 * (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001), found in logarithmic
 * time.
 */
export function postDominators(dataflow: Dataflow): (expr: Expr) => Expr | undefined {
  const { scopes } = dataflow;
  const nodes = new Map<Expr, Node>();
  for (const expr of scopes.order.toReversed()) {
    if (dataflow.operatorOf(expr) === undefined && !isView(expr)) continue;
    const scope = scopes.of(expr);
    const readers = dataflow
      .readers(expr)
      .map((reader) => (scopes.of(reader) === scope ? nodes.get(reader) : undefined));
    nodes.set(expr, { expr, ...below(commonOf(readers)) });
  }
  return (expr) => nodes.get(expr)?.parent?.expr;
}

function commonOf(readers: readonly (Node | undefined)[]): Node | undefined {
  let common = readers[0];
  for (const reader of readers.slice(1)) {
    if (common === undefined || reader === undefined) return undefined;
    common = commonAncestor(common, reader);
  }
  return common;
}
