import type { Shape } from '../../core/shape.ts';
import { conv2d } from '../convolution/conv2d.ts';
import { conv3d } from '../convolution/conv3d.ts';
import { WINDOW_ATTRIBUTES } from '../convolution/window.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { asAlike, BYTES, fillExactly } from './matmul-integer.ts';
import {
  requireZeroPoints,
  subtractZeroPoints,
  withoutZeroPoints,
  type ZeroPointed,
} from './zero-points.ts';

const X: ZeroPointed = { input: 0, zero: 2, axis: 1 };
const W: ZeroPointed = { input: 1, zero: 3, axis: 0 };

/** The exact convolution of bytes, as int32. */
export const convInteger: OpDefinition = defineOp({
  name: 'conv_integer',
  kind: 'anchor',
  summary:
    'Convolution of bytes less their zero points, exact in int32: x (N, C, ...), w (K, C / groups, ' +
    '...), with two or three spatial axes. Zero points are one for all, or one for each channel of ' +
    'x and each output channel of w. Padding stands for zero. Pads are all begins, then all ends.',
  inputs: [
    { name: 'x', dtypes: BYTES },
    { name: 'w', dtypes: BYTES },
    { name: 'x_zero_point', dtypes: BYTES, optional: true },
    { name: 'w_zero_point', dtypes: BYTES, optional: true },
  ],
  attributes: { ...WINDOW_ATTRIBUTES, groups: { type: 'int', default: 1, minimum: 1 } },
  infer(inputs, attributes, dims) {
    for (const pair of [X, W]) requireZeroPoints(inputs, pair, { where: 'conv_integer', dims });
    const alike = asAlike(inputs.slice(0, 2));
    return { dtype: 'int32', shape: floating(inputs).infer(alike, attributes, dims).shape };
  },
  reference(inputs, attributes, output) {
    const operands = [X, W].map((pair) => withoutZeroPoints(inputs, pair));
    fillExactly(floating(inputs), { operands, attributes, output });
  },
  lower(call) {
    const { inputs } = call;
    const kernels = floating(inputs).lower?.({ ...call, inputs: inputs.slice(0, 2) }) ?? [];
    return subtractZeroPoints(kernels, call, [X, W]);
  },
  tolerance: { rtol: 0, atol: 0 },
  cases: () => [
    integerCase([
      [1, 1, 3, 3],
      [1, 1, 2, 2],
    ]),
    integerCase([[1, 1, 5, 5], [1, 1, 3, 3], [], []], { pads: [1, 1, 1, 1] }),
    integerCase([[2, 3, 7, 9], [10, 3, 3, 3], [1], [10]], { pads: [1, 0, 1, 2] }),
    integerCase([[1, 4, 9, 8], [6, 2, 3, 3], [], [6]], {
      groups: 2,
      strides: [2, 1],
      dilations: [1, 2],
    }),
    integerCase([[1, 8, 9, 9], [8, 1, 3, 3], [], []], { groups: 8 }),
    integerCase([[1, 16, 7, 7], [12, 16, 1, 1], [], [12]]),
    integerCase([[1, 3, 20, 20], [4, 3, 13, 13], [], []]),
    integerCase([[0, 3, 5, 5], [2, 3, 3, 3], [], []]),
    integerCase([[1, 2, 4, 5, 6], [3, 2, 2, 3, 2], [], [3]], {
      pads: [1, 0, 0, 0, 1, 1],
      strides: [1, 2, 1],
    }),
  ],
  badCases: () => [
    integerCase([
      [1, 3, 5, 5],
      [2, 4, 3, 3],
    ]),
    integerCase([[1, 3, 5, 5], [2, 3, 3, 3], [2]]),
    integerCase([[1, 3, 5, 5], [2, 3, 3, 3], [], [3]]),
    integerCase([
      [3, 5, 5],
      [2, 3, 3],
    ]),
    integerCase(
      [
        [1, 3, 5, 5],
        [2, 3, 3, 3],
      ],
      { pads: [1, 1] },
    ),
  ],
});

/** The operator on floats that has the same window. */
function floating(inputs: Operands<{ readonly shape: readonly unknown[] }>): OpDefinition {
  return operand(inputs, 0).shape.length === 5 ? conv3d : conv2d;
}

const DTYPES = ['uint8', 'int8', 'uint8', 'int8'] as const;
const RANGES = { uint8: [0, 256], int8: [-128, 128] } as const;

/** Shapes of x, w and the zero points. */
function integerCase(shapes: readonly Shape[], attributes: OpCase['attributes'] = {}): OpCase {
  const shown = shapes.map((shape) => `(${shape.join(', ')})`).join(' ');
  return {
    title: `${shown} ${JSON.stringify(attributes)}`,
    inputs: shapes.map((shape, i) => {
      const dtype = DTYPES[i] ?? 'int8';
      return { dtype, shape, range: RANGES[dtype] };
    }),
    attributes,
  };
}
