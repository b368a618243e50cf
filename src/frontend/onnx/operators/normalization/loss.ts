import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { fromBegin, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';
import { sum } from '../reduction/reduction.ts';

function importNegativeLogLikelihoodLoss(node: ImportNode): Expr {
  return negativeLogLikelihood(node, node.input(0));
}

function importSoftmaxCrossEntropyLoss(node: ImportNode): Expr[] {
  const logProbabilities = node.call('log_softmax', [node.input(0)], { axis: 1 });
  const loss = negativeLogLikelihood(node, logProbabilities);
  return node.outputCount < 2 ? [loss] : [loss, logProbabilities];
}

/**
 * Minus the log probability of each target class, weighed by class: (N, d1, …) of (N, C, d1, …).
 * Targets of `ignore_index` count for nothing.
 */
function negativeLogLikelihood(node: ImportNode, logProbabilities: Expr): Expr {
  const ignored = node.attributes.int('ignore_index');
  const range = fromBegin(node.shape(logProbabilities)[1] ?? 0);
  const target = indicesInput(node, 1, { ...range, except: ignored });
  const isIgnored =
    ignored === undefined ? undefined : node.call('equal', [target, number(node, target, ignored)]);
  const masked = (x: Expr) =>
    isIgnored === undefined ? x : node.call('where', [isIgnored, number(node, x, 0), x]);
  const classes = masked(target);
  const [batch = 1, ...places] = node.shape(target);
  const indices = node.reshape(classes, [batch, 1, ...places]);
  const picked = node.call('gather_elements', [logProbabilities, indices], { axis: 1 });
  const loss = masked(node.call('neg', [node.reshape(picked, node.shape(target))]));
  const given = node.inputs[2];
  if (given === undefined && isIgnored === undefined) return mean(node, loss, undefined);
  const one = number(node, loss, 1);
  const weight =
    given === undefined
      ? node.call('broadcast_to', [one], { shape: node.shape(target) })
      : node.call('gather', [given, classes], { axis: 0 });
  return mean(node, node.call('mul', [loss, weight]), masked(weight));
}

/** The losses themselves, their sum, or their mean by weights. */
function mean(node: ImportNode, loss: Expr, weight: Expr | undefined): Expr {
  const reduction = node.attributes.string('reduction', 'mean');
  const axes = node.shape(loss).map((_, axis) => axis);
  const total = (x: Expr) => sum(node, x, { axes, keepdims: false });
  switch (reduction) {
    case 'none':
      return loss;
    case 'sum':
      return total(loss);
    case 'mean':
      if (weight !== undefined) return node.call('div', [total(loss), total(weight)]);
      return node.call('reduce_mean', [loss], { axes });
    default:
      throw node.malformed(`reduction ${JSON.stringify(reduction)}`, 'none, sum or mean');
  }
}

export const LOSS_IMPORTERS: OperatorImporters = {
  NegativeLogLikelihoodLoss: since(
    12,
    'gather_elements reshape neg reduce_mean equal where broadcast_to mul reduce_sum div gather',
    importNegativeLogLikelihoodLoss,
  ),
  SoftmaxCrossEntropyLoss: since(
    12,
    'log_softmax equal where reshape gather_elements neg gather mul reduce_sum div broadcast_to reduce_mean',
    importSoftmaxCrossEntropyLoss,
  ),
};
