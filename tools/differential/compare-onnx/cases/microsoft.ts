import type { DType } from '../../../../src/core/tensor/dtype.ts';
import { type Draw, float, positive, scalar } from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

type NodeArguments = Pick<NodeCase, 'inputs'> & Partial<NodeCase>;

function microsoft(op: string, draw: (draw: Draw) => NodeArguments): CaseGenerator {
  return (source) => ({
    op,
    domain: 'com.microsoft',
    opset: source.pick([17, 18, 19, 20, 21, 22]),
    ...draw(source),
  });
}

function activation(op: string, withBias = false): CaseGenerator {
  return microsoft(op, (draw) => {
    const shape = draw.shape({ from: 1, to: 4 });
    const bias = withBias ? [float(draw, shape.slice(-1))] : [];
    return { inputs: [float(draw, shape), ...bias], parameters: [1], atol: 1e-4 };
  });
}

const fusedMatMul = microsoft('FusedMatMul', (draw) => {
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const batch = draw.shape({ to: 2, zero: 0 });
  const [transA, transB] = [draw.int(0, 1), draw.int(0, 1)];
  return {
    inputs: [
      float(draw, [...batch, ...(transA === 1 ? [k, m] : [m, k])]),
      float(draw, [...batch, ...(transB === 1 ? [n, k] : [k, n])]),
    ],
    parameters: [1],
    attributes: { transA, transB, alpha: draw.maybe(() => ({ float: 0.3 })) },
    atol: 1e-4,
  };
});

function skipNormalization(op: string): CaseGenerator {
  return microsoft(op, (draw) => {
    const shape = [draw.int(1, 2), draw.int(1, 3), draw.int(2, 7)];
    const last = shape.slice(-1);
    const isSimplified = op === 'SkipSimplifiedLayerNormalization';
    const beta = isSimplified ? [] : [draw.maybe(() => float(draw, last))];
    return {
      inputs: [
        float(draw, shape),
        float(draw, shape),
        float(draw, last),
        ...beta,
        draw.maybe(() => float(draw, last)),
      ],
      parameters: [2, 3, 4],
      attributes: { epsilon: draw.maybe(() => ({ float: 0.1 })) },
      outputs: draw.pick([[true], [true, false, false, true]]),
      atol: 1e-4,
    };
  });
}

const BYTES = ['uint8', 'int8'] as const;

/** Scale and zero point of a quantised tensor. */
/** A scale and a zero point. */
export function quantisation(draw: Draw, dtype: DType) {
  return [
    draw.tensor('float32', [], { number: (d) => d.real(0.02, 0.2) }),
    scalar(dtype, dtype === 'uint8' ? draw.int(60, 200) : draw.int(-30, 30)),
  ];
}

function quantisedPair(op: string): CaseGenerator {
  return microsoft(op, (draw) => {
    const dtype = draw.pick(BYTES);
    const shape = draw.shape({ from: 1, to: 4 });
    return {
      inputs: [
        draw.tensor(dtype, shape),
        ...quantisation(draw, dtype),
        draw.tensor(dtype, draw.broadcastable(shape)),
        ...quantisation(draw, dtype),
        ...quantisation(draw, dtype),
      ],
      parameters: [1, 2, 4, 5, 6, 7],
      step: 1,
    };
  });
}

function quantisedUnary(op: string): CaseGenerator {
  return microsoft(op, (draw) => {
    const dtype = draw.pick(BYTES);
    return {
      inputs: [
        draw.tensor(dtype, draw.shape({ from: 1, to: 4 })),
        ...quantisation(draw, dtype),
        ...quantisation(draw, dtype),
      ],
      parameters: [1, 2, 3, 4],
      attributes: op === 'QLinearLeakyRelu' ? { alpha: draw.maybe(() => ({ float: 0.3 })) } : {},
      step: 1,
    };
  });
}

function quantisedPool(op: string): CaseGenerator {
  return microsoft(op, (draw) => {
    const dtype = draw.pick(BYTES);
    const kernel = [draw.int(1, 3), draw.int(1, 3)];
    const x = draw.tensor(dtype, [draw.int(1, 2), draw.int(1, 3), draw.int(3, 6), draw.int(3, 6)]);
    const isGlobal = op === 'QLinearGlobalAveragePool';
    return {
      inputs: [x, ...quantisation(draw, dtype), ...quantisation(draw, dtype)],
      parameters: [1, 2, 3, 4],
      attributes: isGlobal
        ? {}
        : {
            kernel_shape: kernel,
            strides: draw.maybe(() => [draw.int(1, 2), draw.int(1, 2)]),
            pads: draw.maybe(() => [...kernel, ...kernel].map((size) => size - 1)),
            count_include_pad: draw.maybe(() => draw.int(0, 1)),
            ceil_mode: draw.maybe(() => draw.int(0, 1)),
          },
      step: 1,
    };
  });
}

const matMulNBits = microsoft('MatMulNBits', (draw) => {
  const bits = draw.pick([4, 8]);
  const block = draw.pick([16, 32]);
  const [m, n, k] = [draw.int(1, 4), draw.int(1, 6), block * draw.int(1, 3)];
  const blocks = k / block;
  const zeroBytes = Math.ceil((blocks * bits) / 8);
  return {
    inputs: [
      float(draw, [...draw.shape({ to: 1, zero: 0 }), m, k]),
      draw.tensor('uint8', [n, blocks, (block * bits) / 8]),
      draw.tensor('float32', [n * blocks], positive),
      draw.maybe(() => draw.tensor('uint8', [n * zeroBytes])),
    ],
    parameters: [1, 2, 3],
    attributes: { K: k, N: n, bits, block_size: block, accuracy_level: draw.maybe(() => 1) },
    rtol: 1e-2,
    atol: 1e-2,
  };
});

const dynamicQuantizeMatMul = microsoft('DynamicQuantizeMatMul', (draw) => {
  const dtype = draw.pick(BYTES);
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const sizes = draw.often(0.5) ? [n] : [];
  return {
    inputs: [
      float(draw, [m, k]),
      draw.tensor(dtype, [k, n]),
      draw.tensor('float32', sizes, positive),
      draw.maybe(() => draw.tensor(dtype, sizes)),
      draw.maybe(() => float(draw, [n])),
    ],
    parameters: [1, 2, 3, 4],
    rtol: 1e-2,
    atol: 1e-1,
  };
});

const matMulIntegerToFloat = microsoft('MatMulIntegerToFloat', (draw) => {
  const [ta, tb] = [draw.pick(BYTES), draw.pick(BYTES)];
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const sizes = draw.often(0.5) ? [n] : [];
  return {
    inputs: [
      draw.tensor(ta, [m, k]),
      draw.tensor(tb, [k, n]),
      draw.tensor('float32', [], positive),
      draw.tensor('float32', sizes, positive),
      draw.maybe(() => draw.tensor(ta, [])),
      draw.maybe(() => draw.tensor(tb, sizes)),
      draw.maybe(() => float(draw, [n])),
    ],
    parameters: [1, 2, 3, 4, 5, 6],
    atol: 1e-2,
  };
});

const qGemm = microsoft('QGemm', (draw) => {
  const dtype = draw.pick(BYTES);
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const [transA, transB] = [draw.int(0, 1), draw.int(0, 1)];
  const output = draw.often(0.6) ? quantisation(draw, dtype) : [];
  return {
    inputs: [
      draw.tensor(dtype, transA === 1 ? [k, m] : [m, k]),
      ...quantisation(draw, dtype),
      draw.tensor(dtype, transB === 1 ? [n, k] : [k, n]),
      ...quantisation(draw, dtype),
      draw.maybe(() => draw.tensor('int32', [n])),
      ...output,
    ],
    parameters: [1, 2, 3, 4, 5, 6, 7, 8],
    attributes: { transA, transB, alpha: draw.maybe(() => ({ float: 0.5 })) },
    step: 1,
    atol: 1e-3,
  };
});

export const MICROSOFT_CASES: CaseTable = {
  'microsoft.BiasGelu': activation('BiasGelu', true),
  'microsoft.DynamicQuantizeMatMul': dynamicQuantizeMatMul,
  'microsoft.FastGelu': activation('FastGelu'),
  'microsoft.FusedMatMul': fusedMatMul,
  'microsoft.Gelu': activation('Gelu'),
  'microsoft.MatMulIntegerToFloat': matMulIntegerToFloat,
  'microsoft.MatMulNBits': matMulNBits,
  'microsoft.QGemm': qGemm,
  'microsoft.QLinearAdd': quantisedPair('QLinearAdd'),
  'microsoft.QLinearAveragePool': quantisedPool('QLinearAveragePool'),
  'microsoft.QLinearGlobalAveragePool': quantisedPool('QLinearGlobalAveragePool'),
  'microsoft.QLinearLeakyRelu': quantisedUnary('QLinearLeakyRelu'),
  'microsoft.QLinearMul': quantisedPair('QLinearMul'),
  'microsoft.QLinearSigmoid': quantisedUnary('QLinearSigmoid'),
  'microsoft.QuickGelu': activation('QuickGelu'),
  'microsoft.SkipLayerNormalization': skipNormalization('SkipLayerNormalization'),
  'microsoft.SkipSimplifiedLayerNormalization': skipNormalization(
    'SkipSimplifiedLayerNormalization',
  ),
};
