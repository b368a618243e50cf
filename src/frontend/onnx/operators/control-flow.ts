import {
  callFunction,
  global,
  ifElse,
  letIn,
  projection,
  tuple,
  variableOf,
} from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { tensorType, type TensorTypeNode } from '../../../compiler/ir/type.ts';
import { isUnknownDim } from '../../../core/dim-symbols.ts';
import { Block } from '../graph-scope.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';
import { hostCondition } from '../host-condition.ts';
import { conditionOf, sameOrUnknown } from '../loop-function.ts';
import { Loop } from './loop.ts';
import { Scan } from './scan.ts';

/** A branch as it was imported: its results, and the block that computes them. */
interface Branch {
  readonly block: Block;
  readonly results: readonly Expr[];
}

/** The branch that a constant condition chooses, in its place; else both, as branches of an `if`. */
export function If(node: ImportNode): Expr | readonly Expr[] {
  const given = conditionOf(node, node.input(0));
  const condition = given.kind === 'constant' ? given : (hostCondition(node, given) ?? given);
  if (condition.kind === 'constant') {
    const name = Number(condition.value.elements[0] ?? 0) === 0 ? 'else_branch' : 'then_branch';
    node.attributes.ignore('then_branch', 'else_branch');
    return node.subgraph(name).importInto(node.block, []);
  }
  const thenBranch = importBranch(node, 'then_branch');
  const elseBranch = importBranch(node, 'else_branch');
  if (thenBranch.results.length !== elseBranch.results.length) {
    throw node.malformed(
      `branches of ${thenBranch.results.length} and ${elseBranch.results.length} outputs`,
      'as many in both',
    );
  }
  const types = joinedTypes(node, thenBranch.results, elseBranch.results);
  if (types === undefined) return onlyBranch(node, condition, { thenBranch, elseBranch });
  const value = ifElse(condition, closed(thenBranch, types), closed(elseBranch, types));
  return namedFields(node, value, types);
}

function importBranch(node: ImportNode, name: string): Branch {
  const block = new Block(node.context, node.block.frame);
  const results = node.subgraph(name).importInto(block, []);
  return { block, results: results.map((result) => node.tensor(result)) };
}

/** The result of a branch, with `?` where the other has another dimension. */
function closed({ block, results }: Branch, types: readonly TensorTypeNode[]): Expr {
  const fields = results.map((result, i) => {
    const type = types[i];
    if (type === undefined || !type.shape.some(isUnknownDim)) return result;
    const variable = variableOf('either', type);
    return letIn(variable, result, variable);
  });
  const [only] = fields;
  return block.wrap(fields.length === 1 && only !== undefined ? only : tuple(fields));
}

/** The outputs of the node; dimensions that the program has to find out get names. */
function namedFields(
  node: ImportNode,
  value: Expr,
  types: readonly TensorTypeNode[],
): readonly Expr[] {
  const { block, span } = node;
  const [only] = types;
  if (types.length === 1 && only !== undefined) return [block.name(value, only, span)];
  const type = { kind: 'tuple' as const, fields: types };
  const results = block.bind(value, { name: 'results', type, span });
  return types.map((field, i) => {
    const result = projection(results, i);
    return field.shape.some(isUnknownDim) ? block.name(result, field, span) : result;
  });
}

/** The types of both, with `?` for dimensions that may differ; undefined where ranks do. */
function joinedTypes(
  node: ImportNode,
  thenResults: readonly Expr[],
  elseResults: readonly Expr[],
): readonly TensorTypeNode[] | undefined {
  const joined: TensorTypeNode[] = [];
  for (const [i, result] of thenResults.entries()) {
    const left = node.type(result);
    const right = node.type(elseResults[i] ?? result);
    if (left.dtype !== right.dtype) {
      throw node.malformed(`output ${i} as ${left.dtype} and ${right.dtype}`, 'one dtype');
    }
    if (left.shape.length !== right.shape.length) return undefined;
    const shape = left.shape.map((dim, axis) => sameOrUnknown(dim, right.shape[axis] ?? '?'));
    joined.push(tensorType({ dtype: left.dtype, shape }));
  }
  return joined;
}

/**
 * No tensor has two ranks. What exporters write this way (a Squeeze in one branch, nothing in the
 * other) means one of both wherever the model runs: the one that what follows can be imported for. A
 * program that comes to the other stops with an error.
 */
function onlyBranch(
  node: ImportNode,
  condition: Expr,
  branches: { thenBranch: Branch; elseBranch: Branch },
): readonly Expr[] {
  const isThen = node.context.choices.choose() === 'then';
  const { block, results } = isThen ? branches.thenBranch : branches.elseBranch;
  node.block.absorb(block);
  return results.map((result) => {
    const type = node.type(result);
    const stop = callFunction(global(node.context.stopFunction(type, node.span)), [result]);
    const value = isThen ? ifElse(condition, result, stop) : ifElse(condition, stop, result);
    return node.block.bind(value, { name: 'taken', type: tensorType(type), span: node.span });
  });
}

export const CONTROL_FLOW_IMPORTERS: Readonly<Record<string, NodeImporter>> = { If, Loop, Scan };
