import {
  callFunction,
  func,
  global,
  ifElse,
  projection,
  tuple,
  variableOf,
} from '../../../compiler/ir/build.ts';
import type { Expr, FunctionExpr } from '../../../compiler/ir/expr.ts';
import { tensorType, type Type } from '../../../compiler/ir/type.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';

/** The results of a call of a function that gives a tuple, or one value. */
function resultsOf(node: LiteNode, call: Expr, types: readonly Type[]): readonly Expr[] {
  const [only] = types;
  const isOne = types.length === 1 && only !== undefined;
  const type: Type = isOne ? only : { kind: 'tuple', fields: types };
  const bound = node.block.bind(call, { name: 'called', type, span: node.span });
  return isOne ? [bound] : types.map((_, i) => projection(bound, i));
}

const resultOf = (values: readonly Expr[]): Expr => {
  const [first] = values;
  return values.length === 1 && first !== undefined ? first : tuple(values);
};

/** The types of a node's inputs, as a graph takes them; sizes have to be numbers there. */
function typesOf(node: LiteNode, values: readonly Expr[]): readonly Type[] {
  return values.map((value) => {
    const { dtype, shape } = node.type(value);
    return tensorType({ dtype, shape: node.numbers(shape, 'a size of what a graph takes') });
  });
}

/** A graph as a function of values of these types, and the types of its results. */
function functionOf(node: LiteNode, graph: number, types: readonly Type[]) {
  const params = types.map((type, i) => variableOf(`x${i}`, type, node.span));
  const { block, results } = node.importGraph(graph, params);
  const body = block.wrap(resultOf(results));
  return { fn: func(params, body), resultTypes: typesOf(node, results) };
}

function add(node: LiteNode, wanted: string, define: (name: string) => FunctionExpr): string {
  const name = node.context.freshFunctionName(wanted);
  node.context.functions.set(name, define(name));
  return name;
}

/** A condition that an `if` takes: a bool of rank 0. */
const conditionOf = (node: LiteNode, x: Expr): Expr => node.reshape(node.cast(x, 'bool'), []);

function importIf(node: LiteNode): readonly Expr[] {
  const { thenGraph, elseGraph } = node.options('if');
  const [condition, ...values] = node.allInputs();
  if (condition === undefined) throw node.malformed('no condition', 'one');
  const given = values.map((value) => node.tensor(value));
  const types = typesOf(node, given);
  const branches = [thenGraph, elseGraph].map((graph) => functionOf(node, graph, types));
  const [first, second] = branches;
  if (first === undefined || second === undefined) throw new Error('internal: no branches');
  requireSame(node, first.resultTypes, second.resultTypes);
  const calls = branches.map(({ fn }, i) => {
    const name = add(node, i === 0 ? 'if.then' : 'if.else', () => fn);
    return callFunction(global(name), given, node.span);
  });
  const [then, otherwise] = calls;
  if (then === undefined || otherwise === undefined) throw new Error('internal: no calls');
  const chosen = ifElse(conditionOf(node, condition), then, otherwise);
  return resultsOf(node, chosen, first.resultTypes);
}

/** A function that calls itself at its end as long as its condition holds. */
function importWhile(node: LiteNode): readonly Expr[] {
  const { condition, body } = node.options('while');
  const given = node.allInputs().map((value) => node.tensor(value));
  const types = typesOf(node, given);
  const test = functionOf(node, condition, types);
  const step = functionOf(node, body, types);
  requireSame(node, types, step.resultTypes);
  const testName = add(node, 'while.condition', () => test.fn);
  const stepName = add(node, 'while.body', () => step.fn);
  const params = types.map((type, i) => variableOf(`x${i}`, type, node.span));
  const resultType: Type =
    types.length === 1 && types[0] !== undefined ? types[0] : { kind: 'tuple', fields: types };
  const name = add(node, 'while', (own) => {
    const next = variableOf('next', resultType, node.span);
    const values = types.length === 1 ? [next] : types.map((_, i) => projection(next, i));
    const again: Expr = {
      kind: 'let',
      variable: next,
      value: callFunction(global(stepName), params, node.span),
      body: callFunction(global(own), values, node.span),
    };
    const holds = callFunction(global(testName), params, node.span);
    const flag = variableOf('holds', test.resultTypes[0], node.span);
    const loop: Expr = {
      kind: 'let',
      variable: flag,
      value: holds,
      body: ifElse(conditionOf(node, flag), again, resultOf(params)),
    };
    return { ...func(params, loop), resultType };
  });
  return resultsOf(node, callFunction(global(name), given, node.span), types);
}

function requireSame(node: LiteNode, some: readonly Type[], others: readonly Type[]): void {
  if (JSON.stringify(some) === JSON.stringify(others)) return;
  throw node.unsupported('graphs whose results differ in type or shape', 'the same of both');
}

export const CONTROL_FLOW_IMPORTERS: LiteImporters = {
  IF: becomes('', importIf),
  WHILE: becomes('', importWhile),
};
