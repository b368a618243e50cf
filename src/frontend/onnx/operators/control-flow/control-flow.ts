import { type OperatorImporters, since } from '../../operator-importer.ts';
import { ifElse } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { hostCondition } from '../../host-condition.ts';
import { joinWays } from '../../join-ways.ts';
import { conditionOf } from '../../loop-function.ts';
import { Split } from '../../ways.ts';
import { Loop } from './loop.ts';
import { Scan } from './scan.ts';

/**
 * The branch that a condition chooses which is constant, or known from an `If` around or before; else
 * both, as branches of an `if`. In a branch whose operands do not fit each other the program stops. Where results differ in rank, what
 * follows is imported for each branch.
 */
export function If(node: ImportNode): readonly (Expr | undefined)[] | Split {
  const given = conditionOf(node, node.input(0));
  const condition = given.kind === 'constant' ? given : (hostCondition(node, given) ?? given);
  const known =
    condition.kind === 'constant'
      ? Number(condition.value.elements[0] ?? 0) !== 0
      : node.block.conditionHere(node.input(0));
  if (known !== undefined) {
    const name = known ? 'then_branch' : 'else_branch';
    node.attributes.ignore('then_branch', 'else_branch');
    const { error, split, results } = node.subgraph(name).follow(node.block);
    if (error !== undefined) throw error;
    return split ?? results;
  }
  const branches = ['then_branch', 'else_branch'].map((name) => node.subgraph(name));
  requireArity(
    node,
    branches.map(({ outputNames }) => outputNames.length),
  );
  const ways = branches.map((branch, i) =>
    branch.follow(node.block.branch(node.input(0), i === 0)),
  );
  const split = new Split(ways, node, ([first, second]) => {
    if (first === undefined || second === undefined) throw new Error('internal: no branches');
    return ifElse(condition, first, second);
  });
  if (split.error !== undefined) throw split.error;
  const [first] = split.ends;
  const columns = (first?.results ?? []).map((_, i) =>
    split.ends.flatMap(({ results }) => results[i] ?? []),
  );
  return joinWays(node, split, columns) ?? split;
}

function requireArity(node: ImportNode, [first, second]: readonly number[]): void {
  if (first === second) return;
  throw node.malformed(`branches of ${first} and ${second} outputs`, 'the same number in both');
}

export const CONTROL_FLOW_IMPORTERS: OperatorImporters = {
  If: since(1, '', If),
  Loop: since(1, '', Loop),
  Scan: since(8, '', Scan),
};
