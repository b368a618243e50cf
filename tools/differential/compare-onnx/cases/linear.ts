import { type Draw, positive, reals, scalar, quarters, integersBetween } from '../draw.ts';
import type { DType } from '../../../../src/core/tensor/dtype.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

function matrixShapes(draw: Draw): [number[], number[]] {
  const [m, k, n] = [draw.dim(), draw.often(0.05) ? 0 : draw.dim(), draw.dim()];
  const batch = draw.shape({ to: 3 });
  const other = draw.broadcastable(batch);
  const [a, b] = draw.often(0.5) ? [batch, other] : [other, batch];
  if (draw.often(0.15)) return [[k], [...b, k, n]];
  if (draw.often(0.15)) return [[...a, m, k], [k]];
  return [
    [...a, m, k],
    [...b, k, n],
  ];
}

function matMul(draw: Draw): NodeCase {
  const dtype = draw.pick([
    'float32',
    'float32',
    'float32',
    'float64',
    'int32',
    'int64',
    'uint32',
    'float16',
  ] as const);
  const [a, b] = matrixShapes(draw);
  return {
    op: 'MatMul',
    opset: draw.pick([1, 9, 13]),
    inputs: [draw.tensor(dtype, a), draw.tensor(dtype, b)],
    parameters: draw.pick([[1], [0]]),
    atol: dtype === 'float16' ? 0.1 : 1e-4,
  };
}

function gemm(draw: Draw): NodeCase {
  const opset = draw.pick([7, 9, 11, 13]);
  const [m, k, n] = [draw.dim(), draw.often(0.05) ? 0 : draw.dim(), draw.dim()];
  const [transA, transB] = [draw.maybe(() => draw.int(0, 1)), draw.maybe(() => draw.int(0, 1))];
  const c = draw.pick([[m, n], [n], [1, n], [m, 1], [1, 1], [1], []]);
  const dtype = draw.pick(['float32', 'float32', 'float32', 'float64'] as const);
  return {
    op: 'Gemm',
    opset,
    inputs: [
      draw.tensor(dtype, transA === 1 ? [k, m] : [m, k]),
      draw.tensor(dtype, transB === 1 ? [n, k] : [k, n]),
      opset >= 11 && draw.often(0.3) ? undefined : draw.tensor(dtype, c),
    ],
    parameters: draw.pick([[1, 2], [2], [1], [0]]),
    attributes: {
      transA,
      transB,
      alpha: draw.maybe(() => ({ float: draw.real(-2, 2) })),
      beta: draw.maybe(() => ({ float: draw.real(-2, 2) })),
    },
    atol: 1e-4,
  };
}

const EQUATIONS = [
  'ij,jk->ik',
  'ij,jk',
  'bij,bjk->bik',
  'bij,bkj->bik',
  '...ij,...jk->...ik',
  'ii->i',
  'ii',
  'ij->ji',
  'ij->',
  'ij->j',
  'i,j->ij',
  'i,i->',
  'bhid,bhjd->bhij',
  'ij,ij->ij',
  'ijk->kji',
  'i,ij,j->',
  'ab,bc,cd->ad',
  'iij->ij',
  '...i->...',
  'bi,bi->b',
  'ij , k -> kji',
  'abc,cd->abd',
  'iji->j',
];

function einsum(draw: Draw): NodeCase {
  const equation = draw.pick(EQUATIONS);
  const [left = ''] = equation.split('->');
  const sizes = new Map<string, number>();
  const dots = draw.shape({ to: 2, zero: 0 });
  const inputs = left.split(',').map((term) => {
    const dims: number[] = [];
    for (const letter of term.replace('...', '.').trim()) {
      if (letter === '.') dims.push(...dots);
      else {
        const size = sizes.get(letter) ?? draw.dim();
        sizes.set(letter, size);
        dims.push(size);
      }
    }
    return dims;
  });
  const dtype = draw.pick(['float32', 'float32', 'float64', 'int32', 'int64'] as const);
  return {
    op: 'Einsum',
    opset: 12,
    inputs: inputs.map((dims) => draw.tensor(dtype, dims)),
    parameters: [1],
    attributes: { equation },
    atol: 1e-3,
  };
}

function batchNormalization(draw: Draw): NodeCase {
  const opset = draw.pick([7, 9, 14, 15]);
  const shape = draw.shape({ from: 2, to: 5, zero: 0 });
  const c = shape[1] ?? 1;
  const vector = () => draw.tensor('float32', [c], reals);
  return {
    op: 'BatchNormalization',
    opset,
    inputs: [
      draw.tensor('float32', shape, reals),
      vector(),
      vector(),
      vector(),
      draw.tensor('float32', [c], positive),
    ],
    parameters: draw.pick([
      [1, 2, 3, 4],
      [3, 4],
    ]),
    attributes: {
      epsilon: draw.maybe(() => ({ float: 0.1 })),
      momentum: draw.maybe(() => ({ float: 0.5 })),
    },
    atol: 1e-4,
  };
}

function instanceNormalization(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 3, to: 5, zero: 0 });
  const c = shape[1] ?? 1;
  return {
    op: 'InstanceNormalization',
    opset: draw.pick([6, 22]),
    inputs: [
      draw.tensor('float32', shape, reals),
      draw.tensor('float32', [c]),
      draw.tensor('float32', [c]),
    ],
    parameters: [1, 2],
    attributes: { epsilon: draw.maybe(() => ({ float: 0.1 })) },
    atol: 1e-2,
    rtol: 1e-2,
  };
}

function groupNormalization(draw: Draw): NodeCase {
  const groups = draw.int(1, 3);
  const c = groups * draw.int(1, 3);
  const opset = draw.pick([18, 21]);
  const length = opset === 18 ? groups : c;
  return {
    op: 'GroupNormalization',
    opset,
    inputs: [
      draw.tensor('float32', [draw.int(1, 2), c, draw.int(2, 4), draw.int(2, 4)], reals),
      draw.tensor('float32', [length]),
      draw.tensor('float32', [length]),
    ],
    parameters: [1, 2],
    attributes: { num_groups: groups, epsilon: draw.maybe(() => ({ float: 0.1 })) },
    rtol: 1e-2,
    atol: 1e-3,
  };
}

function layerNormalization(op: string, opset: number): CaseGenerator {
  return (draw) => {
    const shape = draw.shape({ from: 1, to: 4, zero: 0 });
    const axis = draw.int(0, shape.length - 1);
    const tail = shape.slice(axis);
    const dtype = draw.pick(['float32', 'float32', 'float64', 'float16'] as const);
    const isRms = op === 'RMSNormalization';
    const given = axis === shape.length - 1 ? draw.maybe(() => -1) : draw.sign(axis, shape.length);
    return {
      op,
      opset,
      inputs: [
        draw.tensor(dtype, shape, reals),
        draw.tensor(dtype, tail),
        isRms ? undefined : draw.maybe(() => draw.tensor(dtype, tail)),
      ],
      parameters: [1, 2],
      attributes: { axis: given, epsilon: { float: draw.pick([0.1, 0.01]) } },
      outputs: isRms ? 1 : draw.pick([1, 1, 3]),
      atol: dtype === 'float16' ? 0.01 : 1e-4,
    };
  };
}

function meanVariance(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 4, to: 4, zero: 0 });
  return {
    op: 'MeanVarianceNormalization',
    opset: draw.pick([9, 13]),
    inputs: [
      draw.tensor(
        'float32',
        shape.map((dim) => dim + 1),
        reals,
      ),
    ],
    attributes: {
      axes: draw.maybe(() =>
        draw.pick([
          [0, 2, 3],
          [0, 1, 2, 3],
          [2, 3],
        ]),
      ),
    },
    atol: 1e-2,
  };
}

function recurrent(op: 'LSTM' | 'GRU' | 'RNN'): CaseGenerator {
  const gates = { LSTM: 4, GRU: 3, RNN: 1 }[op];
  return (draw) => {
    const opset = draw.pick([7, 14, 22]);
    const direction = draw.maybe(() => draw.pick(['forward', 'reverse', 'bidirectional']), 0.7);
    const d = direction === 'bidirectional' ? 2 : 1;
    const [s, b, i, h] = [draw.int(1, 5), draw.int(1, 3), draw.int(1, 4), draw.int(1, 4)];
    const isBatchFirst = false;
    // Some clip only what the gates take in, some the state of the cell too.
    const clip = draw.maybe(() => draw.pick([0.7, s + 2]), 0.2);
    const most = clip !== undefined && clip > 1 ? 4 : 1;
    const unit = { number: (x: Draw) => x.real(-most, most) };
    const tensor = (shape: number[]) => draw.tensor('float32', shape, unit);
    const activations = {
      LSTM: ['Sigmoid', 'Tanh', 'Tanh'],
      GRU: ['Sigmoid', 'Tanh'],
      RNN: ['Tanh'],
    }[op];
    const named = draw.often(0.2)
      ? activations.map((name) =>
          name === 'Tanh'
            ? draw.pick(['Relu', 'Tanh', 'Softsign'])
            : draw.pick(['Sigmoid', 'HardSigmoid']),
        )
      : undefined;
    const lengths = draw.maybe(() => draw.tensor('int32', [b], integersBetween(1, s)), 0.4);
    const initial = [
      draw.maybe(() => tensor([d, b, h]), 0.5),
      op === 'LSTM'
        ? draw.maybe(() => draw.tensor('float32', [d, b, h], { number: (x) => x.real(-1, 1) }), 0.5)
        : undefined,
      op === 'LSTM' ? draw.maybe(() => tensor([d, 3 * h]), 0.3) : undefined,
    ];
    return {
      op,
      opset,
      inputs: [
        tensor([s, b, i]),
        tensor([d, gates * h, i]),
        tensor([d, gates * h, h]),
        draw.maybe(() => tensor([d, 2 * gates * h])),
        lengths,
        ...initial,
      ],
      parameters: [1, 2, 3, 7],
      attributes: {
        hidden_size: h,
        direction,
        layout: isBatchFirst ? 1 : undefined,
        clip: clip && { float: clip },
        activations: named && { strings: d === 2 ? [...named, ...named] : named },
        linear_before_reset: op === 'GRU' ? draw.maybe(() => draw.int(0, 1)) : undefined,
        input_forget: op === 'LSTM' ? draw.maybe(() => draw.int(0, 1), 0.2) : undefined,
      },
      outputs:
        op === 'LSTM'
          ? draw.pick([3, [true], [false, true], [false, false, true]])
          : draw.pick([2, [true], [false, true]]),
    };
  };
}

function attention(draw: Draw): NodeCase {
  const opset = draw.pick([23, 24]);
  const [b, kv, group, s, t, e, v] = [
    draw.int(1, 2),
    draw.int(1, 2),
    draw.int(1, 2),
    draw.int(1, 4),
    draw.int(1, 4),
    draw.int(1, 4) * 2,
    draw.int(1, 4) * 2,
  ];
  const q = kv * group;
  const isFlat = draw.often(0.4);
  const heads = (n: number, length: number, size: number) =>
    draw.tensor('float32', isFlat ? [b, length, n * size] : [b, n, length, size], reals);
  const past = draw.often(0.3) ? draw.int(1, 3) : 0;
  const total = past + t;
  const mask = draw.maybe(
    () =>
      draw.tensor(
        draw.pick(['float32', 'bool'] as const),
        draw.pick([
          [s, total],
          [1, 1, s, total],
          [b, q, s, total],
        ]),
        quarters,
      ),
    0.4,
  );
  return {
    op: 'Attention',
    opset,
    inputs: [
      heads(q, s, e),
      heads(kv, t, e),
      heads(kv, t, v),
      mask,
      past > 0 ? draw.tensor('float32', [b, kv, past, e], reals) : undefined,
      past > 0 ? draw.tensor('float32', [b, kv, past, v], reals) : undefined,
    ],
    attributes: {
      q_num_heads: isFlat ? q : undefined,
      kv_num_heads: isFlat ? kv : undefined,
      is_causal: mask === undefined ? draw.maybe(() => draw.int(0, 1)) : undefined,
      scale: draw.maybe(() => ({ float: 0.3 })),
      softcap: draw.maybe(() => ({ float: 2 }), 0.3),
    },
    outputs: past > 0 ? 3 : 1,
    atol: 1e-4,
  };
}

const BYTES: readonly DType[] = ['uint8', 'int8'];

function matMulInteger(draw: Draw): NodeCase {
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const batch = draw.shape({ to: 1, zero: 0 });
  const [ta, tb] = [draw.pick(['uint8', 'int8'] as const), draw.pick(['uint8', 'int8'] as const)];
  return {
    op: 'MatMulInteger',
    opset: 10,
    inputs: [
      draw.tensor(ta, [...batch, m, k]),
      draw.tensor(tb, [k, n]),
      draw.maybe(() => scalarOf(draw, ta)),
      draw.maybe(() => (draw.often(0.5) ? scalarOf(draw, tb) : draw.tensor(tb, [n]))),
    ],
    parameters: [1, 2, 3],
  };
}

function scalarOf(draw: Draw, dtype: DType) {
  return scalar(dtype, dtype === 'uint8' ? draw.int(0, 255) : draw.int(-20, 20));
}

function quantizeLinear(draw: Draw): NodeCase {
  const opset = draw.pick([10, 13, 19, 21]);
  const shape = draw.shape({ from: 1, to: 4 });
  const isPerAxis = opset >= 13 && draw.often(0.4);
  const axis = draw.int(0, shape.length - 1);
  const sizes = isPerAxis ? [shape[axis] ?? 1] : [];
  const dtype =
    opset >= 21
      ? draw.pick(['uint8', 'int8', 'int16', 'uint16'] as const)
      : draw.pick(['uint8', 'int8'] as const);
  const zero =
    dtype === 'uint8' || draw.often(0.7)
      ? draw.tensor(dtype, sizes, integersBetween(0, 100))
      : undefined;
  return {
    op: 'QuantizeLinear',
    opset,
    inputs: [
      draw.tensor('float32', shape, { number: (d) => d.real(-40, 40) }),
      draw.tensor('float32', sizes, { number: (d) => d.real(0.05, 0.4) }),
      zero,
    ],
    parameters: [1, 2],
    attributes: { axis: isPerAxis ? draw.sign(axis, shape.length) : undefined },
    step: 1,
  };
}

function dequantizeLinear(draw: Draw): NodeCase {
  const opset = draw.pick([10, 13, 19, 21]);
  const shape = draw.shape({ from: 1, to: 4 });
  const isPerAxis = opset >= 13 && draw.often(0.4);
  const axis = draw.int(0, shape.length - 1);
  const sizes = isPerAxis ? [shape[axis] ?? 1] : [];
  const dtype = draw.pick<DType>([...BYTES, 'int32']);
  return {
    op: 'DequantizeLinear',
    opset,
    inputs: [
      draw.tensor(dtype, shape),
      draw.tensor('float32', sizes, positive),
      dtype === 'int32' ? undefined : draw.maybe(() => draw.tensor(dtype, sizes)),
    ],
    parameters: [1, 2],
    attributes: { axis: isPerAxis ? draw.sign(axis, shape.length) : undefined },
  };
}

export const LINEAR_CASES: CaseTable = {
  Attention: attention,
  BatchNormalization: batchNormalization,
  DequantizeLinear: dequantizeLinear,
  DynamicQuantizeLinear: (draw) => ({
    op: 'DynamicQuantizeLinear',
    opset: 11,
    inputs: [
      draw.tensor(
        'float32',
        draw.shape({ from: 1, zero: 0 }),
        draw.pick([reals, positive, quarters]),
      ),
    ],
    outputs: 3,
    step: 1,
  }),
  Einsum: einsum,
  GRU: recurrent('GRU'),
  Gemm: gemm,
  GroupNormalization: groupNormalization,
  InstanceNormalization: instanceNormalization,
  LSTM: recurrent('LSTM'),
  LayerNormalization: layerNormalization('LayerNormalization', 17),
  MatMul: matMul,
  MatMulInteger: matMulInteger,
  MeanVarianceNormalization: meanVariance,
  QuantizeLinear: quantizeLinear,
  RMSNormalization: layerNormalization('RMSNormalization', 23),
  RNN: recurrent('RNN'),
};
