import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import { CELL_NAMES, CELLS } from './recurrent-cell.ts';
import type { OpCases } from '../op-cases.ts';

export const recurrentCases: OpCases = {
  summary:
    'A recurrent cell over x (T, B, D * gates * H), weights r (D, H, gates * H) and initial states ' +
    '(states * D, B, H): its outputs (T, D, B, H), then its last states. vectors are peepholes ' +
    '(D, 3 * H), or of a GRU the recurrent bias within the reset gate.',
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
};

interface CaseSpec extends Attributes {
  readonly cell: 'rnn' | 'gru' | 'lstm';
  /** How many steps, batch entries and units there are. */
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
