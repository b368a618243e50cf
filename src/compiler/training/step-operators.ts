import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../ops/adjoint/graph-target.ts';
import { floatAttribute, intAttribute } from '../../ops/attributes.ts';
import { uniformNumbers } from '../../ops/random/threefry.ts';
import type { StepOperatorName } from '../ir/operators/training-operators.ts';

interface StepCall {
  readonly graph: GraphBuilder;
  readonly inputs: readonly GraphTensor[];
  readonly attributes: Attributes;
}

/** The operators of a training step besides losses, schedules and optimisers. */
export const STEP_OPERATORS: Readonly<
  Record<StepOperatorName, (call: StepCall) => readonly GraphTensor[]>
> = {
  global_norm: ({ graph, inputs }) => [globalNorm(graph, inputs)],
  /** Pascanu, Mikolov and Bengio 2013: all tensors scaled alike where their joint norm is above `limit`. */
  clip_by_global_norm({ graph, inputs, attributes }) {
    const norm = globalNorm(graph, inputs);
    const limit = graph.scalar(floatAttribute(attributes, 'limit'), 'float32');
    const share = graph.div(limit, graph.call('maximum', [norm, limit]));
    const clipped = inputs.map((x) => graph.mul(x, graph.cast(share, x.dtype)));
    return [...clipped, norm];
  },
  all_finite({ graph, inputs }) {
    // Compilers of shaders may take it that nothing is infinite, so bits are looked at, not differences.
    const faults = inputs.map((x) => {
      const size = graph.unary('abs', x);
      const isFault = graph.call('bitwise_or', [
        graph.unary('is_nan', x),
        graph.unary('is_positive_infinity', size),
      ]);
      const count = graph.sum(graph.cast(isFault, 'float32'), [...x.shape.keys()]);
      return graph.reshape(count, []);
    });
    const all = faults.reduce((sum, fault) => graph.add(sum, fault));
    return [graph.equal(all, 0)];
  },
  scale_loss: scaleLoss,
  /**
   * Zero for a share `ratio` of the elements, the others divided by what remains of 1 (Srivastava et al. 2014).
   * The same key and `stream` drop the same elements.
   */
  dropout({ graph, inputs: [x, key], attributes }) {
    if (x === undefined || key === undefined) return [];
    const ratio = floatAttribute(attributes, 'ratio');
    const numbers = uniformNumbers(graph, key, {
      stream: intAttribute(attributes, 'stream'),
      shape: x.shape,
    });
    const isKept = graph.call('greater_equal', [numbers, graph.scalar(ratio, 'float32')]);
    return [graph.where(isKept, graph.mul(x, ratio < 1 ? 1 / (1 - ratio) : 0), 0)];
  },
};

function globalNorm(graph: GraphBuilder, tensors: readonly GraphTensor[]): GraphTensor {
  const squares = tensors.map((tensor) => {
    const wide = graph.cast(tensor, 'float32');
    return graph.reshape(graph.sum(graph.square(wide), [...tensor.shape.keys()]), []);
  });
  return graph.unary(
    'sqrt',
    squares.reduce((sum, square) => graph.add(sum, square)),
  );
}

/** Beyond it a factor serves no float16. */
const LARGEST_SCALE = 2 ** 24;

/**
 * The factor of the next step's loss (Micikevicius et al. 2018, "Mixed precision training"): `backoff` times as
 * large after gradients that were not finite, `growth` times after `interval` steps that were.
 */
function scaleLoss({ graph, inputs, attributes }: StepCall): readonly GraphTensor[] {
  const [scale, good, finite] = inputs;
  if (scale === undefined || good === undefined || finite === undefined) return [];
  const served = graph.add(good, 1);
  const interval = graph.scalar(intAttribute(attributes, 'interval'), 'int32');
  const isServed = graph.lessEqual(interval, served);
  const grown = graph.mul(scale, floatAttribute(attributes, 'growth'));
  const larger = graph.call('minimum', [grown, graph.scalar(LARGEST_SCALE, 'float32')]);
  const cut = graph.mul(scale, floatAttribute(attributes, 'backoff'));
  const smaller = graph.call('maximum', [cut, graph.scalar(1, 'float32')]);
  const next = graph.where(finite, graph.where(isServed, larger, scale), smaller);
  const zero = graph.scalar(0, 'int32');
  const goes = graph.call('bitwise_and', [finite, graph.call('less', [served, interval])]);
  return [next, graph.where(goes, served, zero)];
}
