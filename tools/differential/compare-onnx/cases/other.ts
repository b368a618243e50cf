import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, integersBetween, positive, quarters, reals, scalar } from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

const BYTES = ['uint8', 'int8'] as const;

/** Scale and zero point of a quantised tensor. */
function quantisation(draw: Draw, dtype: (typeof BYTES)[number], sizes: readonly number[] = []) {
  return [
    draw.tensor('float32', sizes, { number: (d) => d.real(0.02, 0.2) }),
    draw.tensor(dtype, sizes, integersBetween(0, 60)),
  ];
}

function qLinearConv(draw: Draw): NodeCase {
  const [x, w] = [draw.pick(BYTES), 'int8' as const];
  const group = draw.int(1, 2);
  const [inner, outer] = [draw.int(1, 3), group * draw.int(1, 3)];
  const sizes = draw.often(0.5) ? [outer] : [];
  const scale = draw.tensor('float32', sizes, { number: (d) => d.real(0.02, 0.2) });
  return {
    op: 'QLinearConv',
    opset: 10,
    inputs: [
      draw.tensor(x, [draw.int(1, 2), inner * group, draw.int(3, 6), draw.int(3, 6)]),
      ...quantisation(draw, x),
      draw.tensor(w, [outer, inner, draw.int(1, 3), draw.int(1, 3)]),
      scale,
      HostTensor.zeros(w, sizes),
      ...quantisation(draw, x),
      draw.maybe(() => draw.tensor('int32', [outer])),
    ],
    parameters: [1, 2, 3, 4, 5, 6, 7, 8],
    attributes: {
      group,
      strides: draw.maybe(() => [draw.int(1, 2), draw.int(1, 2)]),
      pads: draw.maybe(() => [0, 1, 1, 0]),
    },
    step: 1,
  };
}

function qLinearMatMul(draw: Draw): NodeCase {
  const [a, b] = [draw.pick(BYTES), draw.pick(BYTES)];
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const batch = draw.shape({ to: 1, zero: 0 });
  return {
    op: 'QLinearMatMul',
    opset: draw.pick([10, 21]),
    inputs: [
      draw.tensor(a, [...batch, m, k]),
      ...quantisation(draw, a),
      draw.tensor(b, [k, n]),
      ...quantisation(draw, b, draw.often(0.3) ? [n] : []),
      ...quantisation(draw, a),
    ],
    parameters: [1, 2, 3, 4, 5, 6, 7],
    step: 1,
  };
}

function convInteger(draw: Draw): NodeCase {
  const group = draw.int(1, 2);
  return {
    op: 'ConvInteger',
    opset: 10,
    inputs: [
      draw.tensor('uint8', [draw.int(1, 2), 2 * group, draw.int(3, 6), draw.int(3, 6)]),
      draw.tensor('uint8', [group * draw.int(1, 3), 2, draw.int(1, 3), draw.int(1, 3)]),
      draw.maybe(() => draw.tensor('uint8', [])),
      draw.maybe(() => draw.tensor('uint8', [])),
    ],
    parameters: [1, 2, 3],
    attributes: { group, pads: draw.maybe(() => [1, 0, 0, 1]) },
  };
}

function window(op: string): CaseGenerator {
  return (draw) => ({
    op,
    opset: 17,
    inputs: [scalar(draw.pick(['int32', 'int64'] as const), draw.int(1, 12))],
    parameters: [0],
    attributes: { periodic: draw.maybe(() => draw.int(0, 1)) },
  });
}

function dft(draw: Draw): NodeCase {
  const opset = draw.pick([17, 20]);
  const shape = [draw.int(1, 2), draw.int(2, 9), draw.int(2, 5)];
  const inverse = draw.maybe(() => draw.int(0, 1));
  const onesided = inverse === 1 ? undefined : draw.maybe(() => draw.int(0, 1));
  const axis = draw.int(1, 2);
  const x = draw.tensor('float32', [...shape, onesided === 1 || inverse !== 1 ? 1 : 2], reals);
  const length = draw.maybe(() => scalar('int64', draw.int(1, 9)));
  const attributes = { inverse, onesided };
  return opset === 17
    ? {
        op: 'DFT',
        opset,
        inputs: [x, length],
        parameters: [1],
        attributes: { ...attributes, axis },
        atol: 1e-3,
      }
    : {
        op: 'DFT',
        opset,
        inputs: [x, length, scalar('int64', axis)],
        parameters: [1, 2],
        attributes,
        atol: 1e-3,
      };
}

function loss(op: 'NegativeLogLikelihoodLoss' | 'SoftmaxCrossEntropyLoss'): CaseGenerator {
  return (draw) => {
    const [n, c] = [draw.int(1, 4), draw.int(1, 5)];
    const rest = draw.shape({ to: 2, zero: 0 });
    const isSoftmax = op === 'SoftmaxCrossEntropyLoss';
    return {
      op,
      opset: draw.pick(isSoftmax ? [12, 13] : [13, 22]),
      inputs: [
        draw.tensor('float32', [n, c, ...rest], reals),
        draw.tensor('int64', [n, ...rest], integersBetween(0, c - 1)),
        draw.maybe(() => draw.tensor('float32', [c], positive)),
      ],
      parameters: [2],
      attributes: {
        reduction: draw.maybe(() => draw.pick(['none', 'mean', 'sum'])),
        ignore_index: draw.maybe(() => draw.int(-1, c - 1), 0.3),
      },
      outputs: isSoftmax ? draw.int(1, 2) : 1,
      atol: 1e-4,
    };
  };
}

function nonMaxSuppression(draw: Draw): NodeCase {
  const [batch, classes, count] = [draw.int(1, 2), draw.int(1, 3), draw.int(1, 8)];
  const boxes: number[] = [];
  for (let i = 0; i < batch * count; i++) {
    const [x, y] = [draw.real(0, 3), draw.real(0, 3)];
    boxes.push(x, y, x + draw.real(0.5, 2), y + draw.real(0.5, 2));
  }
  return {
    op: 'NonMaxSuppression',
    opset: draw.pick([10, 11]),
    inputs: [
      HostTensor.from('float32', [batch, count, 4], boxes),
      draw.tensor('float32', [batch, classes, count], { number: (d) => d.real(0, 1) }),
      draw.maybe(() => scalar('int64', draw.int(0, 4)), 0.8),
      draw.maybe(() => scalar('float32', draw.pick([0, 0.2, 0.5]))),
      draw.maybe(() => scalar('float32', 0.3)),
    ],
    parameters: [2, 3, 4],
    attributes: { center_point_box: draw.maybe(() => draw.int(0, 1)) },
  };
}

function col2im(draw: Draw): NodeCase {
  const [image, block] = [
    [draw.int(3, 6), draw.int(3, 6)],
    [draw.int(1, 3), draw.int(1, 3)],
  ];
  const strides = draw.maybe(() => [draw.int(1, 2), draw.int(1, 2)]);
  const count = image
    .map((size, i) => Math.floor((size - (block[i] ?? 1)) / (strides?.[i] ?? 1)) + 1)
    .reduce((product, size) => product * size, 1);
  const channels = draw.int(1, 3);
  const area = (block[0] ?? 1) * (block[1] ?? 1);
  return {
    op: 'Col2Im',
    opset: 18,
    inputs: [
      draw.tensor('float32', [draw.int(1, 2), channels * area, count]),
      HostTensor.from('int64', [2], image),
      HostTensor.from('int64', [2], block),
    ],
    parameters: [1, 2],
    attributes: { strides },
  };
}

function rotaryEmbedding(draw: Draw): NodeCase {
  const [batch, heads, half, length] = [
    draw.int(1, 2),
    draw.int(1, 3),
    draw.int(1, 4),
    draw.int(1, 4),
  ];
  const isFlat = draw.often(0.5);
  const hasPlaces = draw.often(0.6);
  const table = hasPlaces ? [9, half] : [batch, length, half];
  const size = 2 * half;
  return {
    op: 'RotaryEmbedding',
    opset: 23,
    inputs: [
      draw.tensor('float32', isFlat ? [batch, length, heads * size] : [batch, heads, length, size]),
      draw.tensor('float32', table, reals),
      draw.tensor('float32', table, reals),
      hasPlaces ? draw.tensor('int64', [batch, length], integersBetween(0, 8)) : undefined,
    ],
    parameters: [1, 2],
    attributes: {
      num_heads: isFlat ? heads : undefined,
      interleaved: draw.maybe(() => draw.int(0, 1)),
    },
  };
}

export const OTHER_CASES: CaseTable = {
  BlackmanWindow: window('BlackmanWindow'),
  Col2Im: col2im,
  ConvInteger: convInteger,
  DFT: dft,
  Det: (draw) => {
    const n = draw.int(1, 5);
    const x = draw.tensor('float32', [...draw.shape({ to: 2, zero: 0 }), n, n], quarters);
    return { op: 'Det', opset: 11, inputs: [x], atol: 1e-2 };
  },
  HammingWindow: window('HammingWindow'),
  HannWindow: window('HannWindow'),
  NegativeLogLikelihoodLoss: loss('NegativeLogLikelihoodLoss'),
  NonMaxSuppression: nonMaxSuppression,
  QLinearConv: qLinearConv,
  QLinearMatMul: qLinearMatMul,
  RotaryEmbedding: rotaryEmbedding,
  SoftmaxCrossEntropyLoss: loss('SoftmaxCrossEntropyLoss'),
};
