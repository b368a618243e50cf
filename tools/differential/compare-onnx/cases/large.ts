import { type Draw, float, integersBetween, ints, positive, reals, scalar } from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

/** Sizes around those of tiles, rows and chunks of kernels. */
const SIZES = [1, 3, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 130];
const LENGTHS = [...SIZES, 255, 256, 257, 500, 1000, 1023, 1024, 1025, 2049, 4100];

const size = (draw: Draw) => draw.pick(SIZES);
const length = (draw: Draw) => draw.pick(LENGTHS);
const half = { number: (draw: Draw) => draw.real(-0.5, 0.5) };

function matMul(draw: Draw): NodeCase {
  const [m, k, n] = [size(draw), size(draw), size(draw)];
  const batch = draw.pick([[], [], [2], [1, 3]]);
  const isShared = draw.often(0.5);
  const dtype = draw.pick(['float32', 'float32', 'float16'] as const);
  return {
    op: 'MatMul',
    opset: 13,
    inputs: [
      draw.tensor(dtype, [...batch, m, k], half),
      draw.tensor(dtype, isShared ? [k, n] : [...batch, k, n], half),
    ],
    parameters: draw.pick([[], [1]]),
    atol: dtype === 'float16' ? 0.05 : 1e-3,
  };
}

function gemm(draw: Draw): NodeCase {
  const [m, k, n] = [size(draw), size(draw), size(draw)];
  const [transA, transB] = [draw.int(0, 1), draw.int(0, 1)];
  return {
    op: 'Gemm',
    opset: 13,
    inputs: [
      float(draw, transA === 1 ? [k, m] : [m, k]),
      float(draw, transB === 1 ? [n, k] : [k, n]),
      draw.maybe(() => float(draw, draw.pick([[n], [m, n], [m, 1]]))),
    ],
    parameters: draw.pick([[1, 2], [2], []]),
    attributes: { transA, transB, alpha: draw.maybe(() => ({ float: 0.5 })) },
    atol: 1e-2,
  };
}

function conv(op: 'Conv' | 'ConvTranspose'): CaseGenerator {
  return (draw) => {
    const isDepthwise = draw.often(0.3);
    const inner = draw.pick([1, 3, 8, 16, 17, 32]);
    const outer = isDepthwise ? inner : draw.pick([1, 4, 8, 16, 24, 33]);
    const kernel = draw.pick([
      [1, 1],
      [3, 3],
      [5, 5],
      [1, 7],
    ]);
    const group = isDepthwise ? inner : 1;
    const weights = [isDepthwise ? 1 : inner, ...kernel];
    return {
      op,
      opset: 11,
      inputs: [
        float(draw, [draw.int(1, 2), inner, draw.int(7, 24), draw.int(7, 24)]),
        op === 'Conv'
          ? float(draw, [outer, ...weights])
          : float(draw, [inner, isDepthwise ? 1 : outer, ...kernel]),
        draw.maybe(() => float(draw, [outer])),
      ],
      parameters: [1, 2],
      attributes: {
        group,
        strides: draw.maybe(() =>
          draw.pick([
            [2, 2],
            [1, 2],
          ]),
        ),
        pads: draw.maybe(() => [...kernel, ...kernel].map((k) => Math.floor(k / 2))),
      },
      atol: 1e-2,
    };
  };
}

function pool(op: 'MaxPool' | 'AveragePool'): CaseGenerator {
  return (draw) => {
    const kernel = draw.pick([
      [2, 2],
      [3, 3],
      [5, 3],
    ]);
    return {
      op,
      opset: 12,
      inputs: [
        float(draw, [draw.int(1, 2), draw.pick([3, 16, 33]), draw.int(9, 30), draw.int(9, 30)]),
      ],
      attributes: {
        kernel_shape: kernel,
        strides: draw.maybe(() => [2, 2]),
        pads: draw.maybe(() => [1, 1, 0, 1]),
        ceil_mode: draw.maybe(() => draw.int(0, 1)),
      },
    };
  };
}

/** A shape with one long axis. */
function longShape(draw: Draw): { readonly shape: number[]; readonly axis: number } {
  const shape = Array.from({ length: draw.int(1, 3) }, () => draw.int(1, 5));
  const axis = draw.int(0, shape.length - 1);
  shape[axis] = length(draw);
  return { shape, axis };
}

function alongAxis(op: string, opset: number, rest: Partial<NodeCase> = {}): CaseGenerator {
  return (draw) => {
    const { shape, axis } = longShape(draw);
    return {
      op,
      opset,
      inputs: [float(draw, shape)],
      attributes: { axis: draw.sign(axis, shape.length) },
      atol: 1e-4,
      ...rest,
    };
  };
}

function reduce(op: string): CaseGenerator {
  return (draw) => {
    const { shape, axis } = longShape(draw);
    const dtype = draw.pick(['float32', 'float32', 'int32', 'int64'] as const);
    const axes = draw.often(0.6) ? [axis] : draw.axes(shape.length);
    return {
      op,
      opset: 18,
      inputs: [draw.tensor(dtype, shape, dtype === 'float32' ? reals : undefined), ints(axes)],
      parameters: [1],
      attributes: { keepdims: draw.int(0, 1) },
      atol: 1e-2,
    };
  };
}

function layerNormalization(draw: Draw): NodeCase {
  const shape = [draw.int(1, 9), length(draw)];
  return {
    op: 'LayerNormalization',
    opset: 17,
    inputs: [float(draw, shape), float(draw, shape.slice(1)), float(draw, shape.slice(1))],
    parameters: [1, 2],
    attributes: { axis: -1 },
    atol: 1e-3,
  };
}

function topK(draw: Draw): NodeCase {
  const { shape, axis } = longShape(draw);
  const most = shape[axis] ?? 1;
  return {
    op: 'TopK',
    opset: 11,
    inputs: [
      draw.tensor('float32', shape, draw.pick([reals, integersBetween(-30, 30)])),
      ints([draw.pick([1, Math.min(most, 5), Math.min(most, 100), most])]),
    ],
    parameters: [1],
    attributes: { axis, largest: draw.int(0, 1) },
    outputs: 2,
  };
}

function transpose(draw: Draw): NodeCase {
  const shape = [draw.int(1, 3), size(draw), draw.int(1, 4), size(draw)];
  return {
    op: 'Transpose',
    opset: 13,
    inputs: [draw.tensor(draw.pick(['float32', 'uint8', 'int64', 'float16'] as const), shape)],
    attributes: { perm: draw.shuffled([0, 1, 2, 3]) },
  };
}

/** Ranks up to 8. */
function highRank(op: string): CaseGenerator {
  return (draw) => {
    const shape = Array.from({ length: draw.int(6, 8) }, () => draw.int(1, 3));
    return {
      op,
      opset: 13,
      inputs: [draw.tensor('float32', shape), draw.tensor('float32', draw.broadcastable(shape))],
    };
  };
}

function gather(draw: Draw): NodeCase {
  const rows = size(draw);
  return {
    op: 'Gather',
    opset: 13,
    inputs: [
      float(draw, [rows, size(draw)]),
      draw.tensor('int64', [draw.int(1, 3), size(draw)], integersBetween(-rows, rows - 1)),
    ],
    parameters: draw.pick([[0], []]),
  };
}

function recurrent(op: 'LSTM' | 'GRU'): CaseGenerator {
  const gates = op === 'LSTM' ? 4 : 3;
  return (draw) => {
    const [s, b, i, h] = [
      draw.int(1, 12),
      draw.int(1, 3),
      draw.pick([8, 17, 32]),
      draw.pick([15, 16, 33, 64]),
    ];
    const unit = (shape: number[]) =>
      draw.tensor('float32', shape, { number: (d) => d.real(-0.3, 0.3) });
    return {
      op,
      opset: 14,
      inputs: [
        unit([s, b, i]),
        unit([1, gates * h, i]),
        unit([1, gates * h, h]),
        unit([1, 2 * gates * h]),
      ],
      parameters: [1, 2, 3],
      attributes: { hidden_size: h },
      outputs: 2,
      atol: 1e-4,
    };
  };
}

function instanceNormalization(draw: Draw): NodeCase {
  const channels = draw.pick([1, 3, 17]);
  return {
    op: 'InstanceNormalization',
    opset: 6,
    inputs: [
      float(draw, [draw.int(1, 2), channels, draw.int(5, 40), draw.int(5, 40)]),
      draw.tensor('float32', [channels], positive),
      float(draw, [channels]),
    ],
    parameters: [1, 2],
    atol: 1e-3,
  };
}

function matMulInteger(draw: Draw): NodeCase {
  const [m, k, n] = [size(draw), size(draw), size(draw)];
  const [a, b] = [draw.pick(['uint8', 'int8'] as const), draw.pick(['uint8', 'int8'] as const)];
  return {
    op: 'MatMulInteger',
    opset: 10,
    inputs: [
      draw.tensor(a, [m, k]),
      draw.tensor(b, [k, n]),
      scalar(a, 7),
      draw.maybe(() => scalar(b, 3)),
    ],
    parameters: [1, 2, 3],
  };
}

/** Sizes beyond those of tiles and rows, where kernels change their ways. */
export const LARGE_CASES: CaseTable = {
  'large.ArgMax': alongAxis('ArgMax', 13),
  'large.AveragePool': pool('AveragePool'),
  'large.Add': highRank('Add'),
  'large.Conv': conv('Conv'),
  'large.ConvTranspose': conv('ConvTranspose'),
  'large.CumSum': (draw) => {
    const { shape, axis } = longShape(draw);
    return {
      op: 'CumSum',
      opset: 14,
      inputs: [float(draw, shape), scalar('int64', axis)],
      parameters: [1],
      attributes: { reverse: draw.int(0, 1), exclusive: draw.int(0, 1) },
      atol: 1e-2,
    };
  },
  'large.GRU': recurrent('GRU'),
  'large.Gather': gather,
  'large.Gemm': gemm,
  'large.InstanceNormalization': instanceNormalization,
  'large.LSTM': recurrent('LSTM'),
  'large.LayerNormalization': layerNormalization,
  'large.LogSoftmax': alongAxis('LogSoftmax', 13),
  'large.MatMul': matMul,
  'large.MatMulInteger': matMulInteger,
  'large.MaxPool': pool('MaxPool'),
  'large.ReduceMax': reduce('ReduceMax'),
  'large.ReduceMean': reduce('ReduceMean'),
  'large.ReduceSum': reduce('ReduceSum'),
  'large.Softmax': alongAxis('Softmax', 13),
  'large.TopK': topK,
  'large.Transpose': transpose,
};
