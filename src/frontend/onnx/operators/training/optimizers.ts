import { exprOf } from '../../../../compiler/inference/expr-tensor.ts';
import type { Attributes } from '../../../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../../../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../../../ops/adjoint/graph-target.ts';
import type { Expr, VarExpr } from '../../../../compiler/ir/expr.ts';
import {
  OPTIMIZERS,
  type OptimizerRule,
  type OptimizerStep,
} from '../../../../compiler/training/optimizers.ts';
import type { ImportNode } from '../../import-node.ts';
import { NodeGraphTarget } from '../../node-graph-target.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import * as ir from '../../../../compiler/ir/build.ts';
import { tensorType } from '../../../../compiler/ir/type.ts';
import { bindersOf, postOrder, rewrite } from '../../../../compiler/ir/walk/visit.ts';

/** How ONNX's optimisers differ: they count steps from 0, the rate is R, and each has a penalty. */
interface OnnxOptimizer {
  readonly slots: number;
  readonly settings: (node: ImportNode) => Attributes;
  readonly rule: OptimizerRule;
  /** The rate of a step, which is a float of rank 0 that counts from 0. */
  readonly rate?: (rate: GraphTensor, step: GraphTensor, graph: GraphBuilder) => GraphTensor;
}

/** A node of several parameters: R, T, the parameters, their gradients, then the slots. */
function importOptimizer(node: ImportNode, optimizer: OnnxOptimizer): Expr[] {
  const settings = {
    ...optimizer.settings(node),
    decay: node.attributes.float('norm_coefficient', 0),
  };
  const target = new NodeGraphTarget(node);
  const { builder: graph } = target;
  const groups = 2 + optimizer.slots;
  const count = (node.inputs.length - 2) / groups;
  if (!Number.isInteger(count) || count < 1) {
    throw node.malformed(`${node.inputs.length} inputs`, `2, and ${groups} for each tensor`);
  }
  const at = (group: number, index: number) => target.tensor(node.input(2 + group * count + index));
  const results = Array.from({ length: count }, (_, index) => {
    const parameter = at(0, index);
    const { dtype } = parameter;
    const scalarOf = (input: number) =>
      graph.reshape(graph.cast(target.tensor(node.input(input)), dtype), []);
    const [rate, step] = [scalarOf(0), scalarOf(1)];
    return optimizer.rule({
      graph,
      parameter,
      gradient: at(1, index),
      slots: Array.from({ length: optimizer.slots }, (_, slot) => at(2 + slot, index)),
      rate: optimizer.rate?.(rate, step, graph) ?? rate,
      step: graph.add(step, 1),
      attributes: settings,
    });
  });
  return Array.from({ length: 1 + optimizer.slots }, (_, group) =>
    results.map((of) => exprOf(of[group] ?? of[0] ?? at(0, 0))),
  ).flat();
}

/** Without corrections of biases in the first step, and with an epsilon beside the root that is not corrected. */
function adam(call: OptimizerStep, settings: { readonly post: number }): readonly GraphTensor[] {
  const { graph, parameter, slots, attributes, rate, step } = call;
  const [alpha, beta] = [Number(attributes['beta1']), Number(attributes['beta2'])];
  const [mean = parameter, square = parameter] = slots;
  const gradient = graph.add(call.gradient, graph.mul(parameter, Number(attributes['decay'])));
  const average = (before: GraphTensor, now: GraphTensor, kept: number) =>
    graph.add(graph.mul(before, kept), graph.mul(now, 1 - kept));
  const nextMean = average(mean, gradient, alpha);
  const nextSquare = average(square, graph.square(gradient), beta);
  const size = graph.add(graph.unary('sqrt', nextSquare), Number(attributes['epsilon']));
  const count = graph.sub(step, 1);
  const left = (kept: number) => {
    const power = graph.call('pow', [graph.scalar(kept, count.dtype), count]);
    return graph.sub(graph.scalar(1, count.dtype), power);
  };
  const isFirst = graph.equal(count, 0);
  // A divisor that is not zero in the branch that is not taken either.
  const divisor = graph.where(isFirst, 1, left(alpha));
  const corrected = graph.mul(rate, graph.div(graph.unary('sqrt', left(beta)), divisor));
  const factor = graph.where(isFirst, rate, corrected);
  const next = graph.sub(parameter, graph.mul(graph.div(nextMean, size), factor));
  return [graph.mul(next, 1 - settings.post), nextMean, nextSquare];
}

function importAdam(node: ImportNode): Expr[] {
  const post = node.attributes.float('norm_coefficient_post', 0);
  return importOptimizer(node, {
    slots: 2,
    settings: ({ attributes }) => ({
      beta1: attributes.float('alpha', 0.9),
      beta2: attributes.float('beta', 0.999),
      epsilon: attributes.float('epsilon', 1e-6),
    }),
    rule: (call) => adam(call, { post }),
  });
}

function importAdagrad(node: ImportNode): Expr[] {
  const decay = node.attributes.float('decay_factor', 0);
  return importOptimizer(node, {
    slots: 1,
    settings: ({ attributes }) => ({ epsilon: attributes.float('epsilon', 1e-6) }),
    rule: OPTIMIZERS.adagrad,
    rate: (rate, step, graph) => graph.div(rate, graph.add(graph.mul(step, decay), 1)),
  });
}

function importMomentum(node: ImportNode): Expr[] {
  const mode = node.attributes.string('mode', 'standard');
  if (mode !== 'standard' && mode !== 'nesterov') {
    throw node.malformed(`mode ${JSON.stringify(mode)}`, 'standard or nesterov');
  }
  return importOptimizer(node, {
    slots: 1,
    settings: ({ attributes }) => ({
      momentum: attributes.float('alpha', 0),
      dampening: 1 - attributes.float('beta', 0),
      nesterov: mode === 'nesterov',
    }),
    rule: OPTIMIZERS.momentum,
  });
}

export const OPTIMIZER_IMPORTERS: OperatorImporters = {
  Adagrad: since(1, 'add mul sqrt div sub reshape cast', importAdagrad),
  Adam: since(1, 'add mul sqrt div sub pow equal where reshape cast', importAdam),
  Momentum: since(1, 'add mul sub less where reshape cast', importMomentum),
};

/**
 * The derivatives of the sum of `y` with respect to `xs`, where these and `zs` have the values of the inputs.
 * `withTensorNames` has put the tensors that the attributes name behind the inputs.
 */
function importGradient(node: ImportNode): Expr[] {
  const xs = node.attributes.strings('xs') ?? [];
  const zs = node.attributes.strings('zs') ?? [];
  node.attributes.ignore('y');
  const count = xs.length + zs.length;
  if (xs.length === 0 || node.inputs.length !== 2 * count + 1) {
    throw node.malformed(
      `${node.inputs.length - count - 1} inputs for ${count} tensors in xs and zs`,
      'as many, and one at least in xs',
    );
  }
  const named = Array.from({ length: count }, (_, i) => node.input(count + i));
  const given = named.map((_, i) => node.tensor(node.input(i)));
  const params = xs.map((name, i) =>
    ir.variableOf(name, tensorType(node.type(node.input(i))), node.span),
  );
  const y = node.tensor(node.input(2 * count));
  const total = node.call('reduce_sum', [y], { axes: [...node.shape(y).keys()], keepdims: false });
  const body = node.block.wrapDependents(total, new Set(named));
  const replaced = new Map<Expr, Expr>(bound(body).map((variable) => [variable, { ...variable }]));
  for (const [i, expr] of named.entries()) replaced.set(expr, params[i] ?? given[i] ?? expr);
  const fn = ir.func(
    params,
    rewrite(body, (expr, original) => replaced.get(original) ?? expr),
  );
  const result = ir.callFunction(ir.gradient(fn), given.slice(0, xs.length), node.span);
  return xs.map((_, i) => ir.projection(ir.projection(result, 1), i));
}

/** The variables that an expression binds: it stands a second time in the function that is differentiated. */
function bound(body: Expr): VarExpr[] {
  return postOrder(body).flatMap(bindersOf);
}

export const GRADIENT_IMPORTERS: OperatorImporters = {
  Gradient: since(1, 'reduce_sum', importGradient),
};
