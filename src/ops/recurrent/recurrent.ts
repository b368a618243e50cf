import { formatDim } from '../../core/dim.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import type { Shape } from '../../core/shape.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { activationsOf, CELL_NAMES, CELLS, cellOf, directionCount } from './recurrent-cell.ts';
import { lowerRecurrent } from './recurrent-lowering.ts';
import { computeRecurrent } from './recurrent-reference.ts';

/**
 * The recurrence of RNN, GRU and LSTM over all steps of a sequence, the equations as ONNX gives them.
 * Inputs come projected, (steps, batch, directions * gates * hidden), gates in ONNX's order.
 */
export const recurrent: OpDefinition = defineOp({
  name: 'recurrent',
  kind: 'anchor',
  summary:
    'A recurrent cell over x (T, B, D * gates * H), weights r (D, H, gates * H) and initial states ' +
    '(states * D, B, H): its outputs (T, D, B, H), then its last states. vectors are peepholes ' +
    '(D, 3 * H), or of a GRU the recurrent bias within the reset gate.',
  inputs: [
    ...['x', 'r', 'initial'].map((name) => ({ name, dtypes: FLOATS })),
    { name: 'vectors', dtypes: FLOATS, optional: true },
    { name: 'lengths', dtypes: ['int32'], optional: true },
  ],
  attributes: {
    cell: { type: 'string', oneOf: CELL_NAMES },
    direction: {
      type: 'string',
      default: 'forward',
      oneOf: ['forward', 'reverse', 'bidirectional'],
    },
    activations: { type: 'strings' },
    alphas: { type: 'floats' },
    betas: { type: 'floats' },
    clip: { type: 'float', default: 0, minimum: 0 },
    linear_before_reset: { type: 'bool', default: false },
    input_forget: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    activationsOf(attributes);
    const { gates, states, vectors } = CELLS[cellOf(attributes)];
    const directions = directionCount(attributes);
    const [x, r] = [operand(inputs, 0), operand(inputs, 1)];
    const [steps = dims.of(0), batch = dims.of(0)] = x.shape;
    const hidden = r.shape[1] ?? dims.of(0);
    const width = dims.mul(hidden, gates);
    const expected = [
      [steps, batch, dims.mul(width, directions)],
      [dims.of(directions), hidden, width],
      [dims.of(directions * states), batch, hidden],
      [dims.of(directions), dims.mul(hidden, vectors)],
      [batch],
    ];
    for (const [i, type] of inputs.entries()) {
      const shape = expected[i] ?? [];
      if (type === undefined) continue;
      const complaint = () => ({
        where: `recurrent: input ${['x', 'r', 'initial', 'vectors', 'lengths'][i] ?? ''}`,
        got: formatType(type),
        expected: `(${shape.map(formatDim).join(', ')})`,
      });
      const rank = dims.of(type.shape.length);
      dims.requireEqual(rank, dims.of(shape.length), complaint);
      for (const [axis, dim] of shape.entries()) {
        dims.requireEqual(type.shape[axis] ?? dims.of(-1), dim, complaint);
      }
    }
    const floats = inputs.slice(0, 4).flatMap((type) => (type === undefined ? [] : [type]));
    return {
      dtype: commonDType(floats, 'recurrent'),
      shape: [dims.add(steps, states), dims.of(directions), batch, hidden],
    };
  },
  reference: computeRecurrent,
  lower: lowerRecurrent,
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  cases: () => [
    ...CELL_NAMES.flatMap((cell) => [
      recurrentCase({ cell, sizes: [1, 1, 1] }),
      recurrentCase({ cell, sizes: [5, 3, 4], direction: 'bidirectional', lengths: [5, 0, 3] }),
      recurrentCase({ cell, sizes: [4, 2, 70], direction: 'reverse', hasVectors: true }),
      recurrentCase({ cell, sizes: [0, 2, 3] }),
      recurrentCase({ cell, sizes: [3, 0, 4], direction: 'bidirectional' }),
      recurrentCase({ cell, sizes: [2, 3, 300] }),
      recurrentCase({ cell, sizes: [7, 2, 5], direction: 'reverse', lengths: [2, 9], clip: 0.5 }),
    ]),
    recurrentCase({ cell: 'gru', sizes: [3, 2, 5], linear_before_reset: true }),
    recurrentCase({ cell: 'gru', sizes: [4, 3, 66], linear_before_reset: true, hasVectors: true }),
    recurrentCase({ cell: 'lstm', sizes: [3, 2, 9], input_forget: true, hasVectors: true }),
    ...[
      ['Affine', 'Relu', 'LeakyRelu'],
      ['ThresholdedRelu', 'ScaledTanh', 'HardSigmoid'],
      ['Elu', 'Softsign', 'Softplus'],
    ].map((activations) =>
      recurrentCase({
        cell: 'lstm',
        sizes: [4, 2, 6],
        direction: 'bidirectional',
        activations: [...activations, 'Sigmoid', 'Tanh', 'Tanh'],
        clip: 3,
      }),
    ),
  ],
  badCases: () => [
    recurrentCase({ cell: 'lstm', sizes: [2, 1, 3], activations: ['Sigmoid', 'Tanh'] }),
    recurrentCase({ cell: 'rnn', sizes: [2, 1, 3], activations: ['Gelu'] }),
    recurrentCase({ cell: 'gru', sizes: [2, 1, 3], lengths: [2, 1] }),
    {
      ...recurrentCase({ cell: 'rnn', sizes: [2, 1, 3] }),
      title: 'weights of two directions',
      inputs: [
        { dtype: 'float32', shape: [2, 1, 3] },
        { dtype: 'float32', shape: [2, 3, 3] },
        { dtype: 'float32', shape: [1, 1, 3] },
      ],
    },
  ],
});

interface CaseSpec extends Attributes {
  readonly cell: 'rnn' | 'gru' | 'lstm';
  /** Steps, batch and units. */
  readonly sizes: readonly [number, number, number];
  readonly direction?: string;
  readonly activations?: readonly string[];
  readonly lengths?: readonly number[];
  readonly hasVectors?: boolean;
}

function recurrentCase({ cell, sizes, lengths, hasVectors, ...given }: CaseSpec): OpCase {
  const { direction = 'forward' } = given;
  const [steps, batch, hidden] = sizes;
  const { gates, states, vectors, activations: count } = CELLS[cell];
  const directions = direction === 'bidirectional' ? 2 : 1;
  const byDefault = cell === 'rnn' ? ['Tanh'] : ['Sigmoid', 'Tanh', 'Tanh'].slice(0, count);
  const activations =
    given.activations ?? Array.from({ length: directions }, () => byDefault).flat();
  const scale = 1 / Math.sqrt(hidden);
  const float = (shape: Shape, range: number): OpCaseInput => ({
    dtype: 'float32',
    shape,
    range: [-range, range],
  });
  const withVectors = hasVectors === true || lengths !== undefined;
  const inputs = [
    float([steps, batch, directions * gates * hidden], 2),
    float([directions, hidden, gates * hidden], scale),
    float([directions * states, batch, hidden], 1),
    ...(withVectors ? [float([directions, vectors * hidden], 1)] : []),
    ...(lengths === undefined
      ? []
      : [{ dtype: 'int32' as const, shape: [lengths.length], values: lengths }]),
  ];
  const attributes = {
    ...given,
    cell,
    activations,
    alphas: activations.map((_, i) => 0.4 + 0.1 * i),
    betas: activations.map((_, i) => 0.7 - 0.1 * i),
  };
  const words = JSON.stringify({ direction, ...given });
  return {
    title: `${cell} (${sizes.join(', ')}) ${words}${hasVectors === true ? ' with vectors' : ''}`,
    inputs,
    attributes,
  };
}
