import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../ops/adjoint/graph-target.ts';
import { floatAttribute, intAttribute } from '../../ops/attributes.ts';
import { isFloat } from '../../ops/elementwise/number-dtypes.ts';
import type { LossName } from '../ir/operators/training-operators.ts';

/** Operands of a loss: the output of the model (`given`) and its target (`wanted`). */
interface LossCall {
  readonly graph: GraphBuilder;
  readonly given: GraphTensor;
  readonly wanted: GraphTensor;
  readonly attributes: Attributes;
}

/** The losses by the names of their operators, each a mean in float32, or float64 where the model gives that. */
export const LOSSES: Readonly<Record<LossName, (call: LossCall) => GraphTensor>> = {
  cross_entropy: crossEntropy,
  /** Of scores before the sigmoid, without overflow: max(x, 0) - x y + log(1 + exp(-|x|)). */
  binary_cross_entropy({ graph, given: x, wanted: y }) {
    const above = graph.unary('relu', x);
    const tail = graph.unary('log1p', graph.unary('exp', graph.neg(graph.unary('abs', x))));
    return meanOf(graph, graph.add(graph.sub(above, graph.mul(x, y)), tail));
  },
  mean_squared_error: ({ graph, given, wanted }) =>
    meanOf(graph, graph.square(graph.sub(given, wanted))),
  mean_absolute_error: ({ graph, given, wanted }) =>
    meanOf(graph, graph.unary('abs', graph.sub(given, wanted))),
  /** Huber 1964: half the square up to `delta`, a line of that slope beyond it. */
  huber({ graph, given, wanted, attributes }) {
    const delta = floatAttribute(attributes, 'delta');
    const error = graph.unary('abs', graph.sub(given, wanted));
    const near = graph.call('minimum', [error, graph.scalar(delta, error.dtype)]);
    // Half the square of the near part, and delta times what is beyond it.
    const beyond = graph.mul(graph.sub(error, near), delta);
    return meanOf(graph, graph.add(graph.mul(graph.square(near), 0.5), beyond));
  },
};

/**
 * Of scores before the softmax, with wanted classes as indices or as probabilities. `smoothing` takes that share
 * of the probability from what is wanted and spreads it over all classes (Szegedy et al. 2016). Places of the
 * index `ignore` count for nothing; where all are ignored the loss is 0.
 */
function crossEntropy(call: LossCall): GraphTensor {
  const { graph, given, wanted, attributes } = call;
  const rank = given.shape.length;
  const axis = (intAttribute(attributes, 'axis') + rank) % rank;
  const logs = graph.call('log_softmax', [given], { axis });
  const smoothing = floatAttribute(attributes, 'smoothing');
  const classes = given.shape[axis] ?? 1;
  const spread = smoothing === 0 ? undefined : graph.neg(graph.mean(logs, [axis]));
  const blend = (loss: GraphTensor) =>
    spread === undefined
      ? loss
      : graph.add(graph.mul(loss, 1 - smoothing), graph.mul(spread, smoothing));
  if (isFloat(wanted.dtype)) {
    return meanOf(graph, blend(graph.neg(graph.sum(graph.mul(logs, wanted), [axis]))));
  }
  const index = graph.reshape(graph.cast(wanted, 'int32'), given.shape.toSpliced(axis, 1, 1));
  const places = given.shape.map((_, i) => (i === axis ? classes : 1));
  const numbers = graph.reshape(graph.cast(graph.count(classes), 'int32'), places);
  const picked = graph.where(graph.equal(numbers, index), logs, 0);
  const losses = blend(graph.neg(graph.sum(picked, [axis])));
  const isIgnored = graph.equal(index, intAttribute(attributes, 'ignore'));
  const counted = graph.where(isIgnored, graph.scalar(0, logs.dtype), 1);
  const total = sumOf(graph, graph.where(isIgnored, 0, losses));
  const count = graph.call('maximum', [sumOf(graph, counted), graph.scalar(1, logs.dtype)]);
  return graph.div(total, count);
}

function meanOf(graph: GraphBuilder, x: GraphTensor): GraphTensor {
  return graph.reshape(graph.mean(x, axesOf(x)), []);
}

function sumOf(graph: GraphBuilder, x: GraphTensor): GraphTensor {
  return graph.reshape(graph.sum(x, axesOf(x)), []);
}

function axesOf({ shape }: GraphTensor): number[] {
  return shape.map((_, axis) => axis);
}
