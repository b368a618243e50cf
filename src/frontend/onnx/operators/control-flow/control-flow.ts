import { call, ifElse, int } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { isOperatorCall } from '../../../../compiler/ir/operators/operator-name.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { ImportNode } from '../../import-node.ts';
import { joinPaths } from '../../paths/join-paths.ts';
import { conditionOf } from '../../functions/loop-function.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { Fork } from '../../paths/paths.ts';
import { Loop } from './loop.ts';
import { Scan } from './scan.ts';

const COMPARISONS: Readonly<Record<string, (a: Expr, b: Expr) => Expr>> = {
  equal: (a, b) => call('int_eq', [a, b]),
  less: (a, b) => call('int_lt', [a, b]),
  greater: (a, b) => call('int_lt', [b, a]),
  less_equal: (a, b) => call('int_eq', [call('int_lt', [b, a]), int(0)]),
  greater_equal: (a, b) => call('int_eq', [call('int_lt', [a, b]), int(0)]),
  logical_not: (a) => call('int_eq', [a, int(0)]),
};

/**
 * A condition that compares dimensions as an integer of the host, so that no program waits for a
 * device to compare what the host knows; undefined for any other.
 */
function hostCondition(node: ImportNode, condition: Expr): Expr | undefined {
  if (!isOperatorCall(condition)) return undefined;
  const { name } = condition.callee;
  const [first] = condition.args;
  if (name === 'reshape' && first !== undefined) return hostCondition(node, first);
  const compare = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
  if (compare === undefined) return undefined;
  const operands = condition.args.map((arg) =>
    name === 'logical_not' ? hostCondition(node, arg) : hostOperand(node, arg),
  );
  const [a, b = a] = operands;
  return a === undefined || b === undefined ? undefined : compare(a, b);
}

/** The only element of a constant, or of a tensor that is made of dimensions. */
function hostOperand(node: ImportNode, expr: Expr): Expr | undefined {
  if (expr.kind === 'constant') {
    const { value } = expr;
    const element = Number(value.elements[0]);
    const isPlain = value.elementCount === 1 && Number.isSafeInteger(element);
    return isPlain && value.dtype !== 'float16' ? int(element) : undefined;
  }
  if (!isOperatorCall(expr)) return undefined;
  const [first] = expr.args;
  if (expr.callee.name === 'reshape' && first !== undefined) return hostOperand(node, first);
  const { dims } = expr.attributes;
  if (expr.callee.name !== 'dims_tensor' || !Array.isArray(dims)) return undefined;
  const [dim, ...others]: readonly Dim[] = dims;
  return dim === undefined || others.length > 0 ? undefined : hostInteger(dim, node.block.frame);
}

/**
 * The branch that a condition chooses which is constant, or known from an `If` around or before; else
 * both, as branches of an `if`. In a branch whose operands do not fit each other the program stops. Where results differ in rank, what
 * follows is imported for each branch.
 */
function If(node: ImportNode): readonly (Expr | undefined)[] | Fork {
  const given = conditionOf(node, node.input(0));
  const condition = given.kind === 'constant' ? given : (hostCondition(node, given) ?? given);
  const known =
    condition.kind === 'constant'
      ? Number(condition.value.elements[0] ?? 0) !== 0
      : node.block.conditionHere(node.input(0));
  if (known !== undefined) {
    const name = known ? 'then_branch' : 'else_branch';
    node.attributes.ignore('then_branch', 'else_branch');
    const { error, fork, results } = node.subgraph(name).follow(node.block);
    if (error !== undefined) throw error;
    return fork ?? results;
  }
  const branches = ['then_branch', 'else_branch'].map((name) => node.subgraph(name));
  requireArity(
    node,
    branches.map(({ outputNames }) => outputNames.length),
  );
  const paths = branches.map((branch, i) =>
    branch.follow(node.block.branch(node.input(0), i === 0)),
  );
  const fork = new Fork(paths, node, ([first, second]) => {
    if (first === undefined || second === undefined) throw new Error('internal: no branches');
    return ifElse(condition, first, second);
  });
  if (fork.error !== undefined) throw fork.error;
  const [first] = fork.exits;
  const columns = (first?.results ?? []).map((_, i) =>
    fork.exits.flatMap(({ results }) => results[i] ?? []),
  );
  return joinPaths(node, fork, columns) ?? fork;
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
