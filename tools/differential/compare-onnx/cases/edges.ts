import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../../../src/core/tensor/shape.ts';
import { ELEMENT_TYPES } from '../../../../src/testing/onnx-writer.ts';
import { type Draw, edges, infinities, ints, type Elements, scalar } from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

/** Integers of 64 bits that no double holds, and the ends of their range. */
const WIDE: readonly bigint[] = [
  0n,
  1n,
  2n,
  3n,
  (1n << 31n) - 1n,
  1n << 31n,
  (1n << 32n) - 1n,
  1n << 32n,
  (1n << 53n) + 1n,
  (1n << 62n) + 12345n,
  (1n << 63n) - 1n,
];

/** An int64 or uint64 tensor of numbers from all over the range. */
function wide(draw: Draw, dtype: 'int64' | 'uint64', shape: readonly number[], allowZero = true) {
  const values = Array.from({ length: elementCount(shape) }, () => {
    const value = draw.pick(allowZero ? WIDE : WIDE.slice(1));
    if (dtype === 'uint64') return draw.often(0.3) ? (1n << 64n) - 1n - value : value;
    return draw.often(0.5) ? -value : value;
  });
  const data = dtype === 'int64' ? BigInt64Array.from(values) : BigUint64Array.from(values);
  return new HostTensor(dtype, shape, data);
}

function wideBinary(op: string, opset: number, rest: Partial<NodeCase> = {}): CaseGenerator {
  return (draw) => {
    const isShift = op === 'BitShift';
    const dtype = isShift ? 'uint64' : draw.pick(['int64', 'uint64'] as const);
    const shape = draw.shape({ from: 1, to: 3 });
    const other = draw.broadcastable(shape);
    const divides = op === 'Div' || op === 'Mod';
    return {
      op,
      opset,
      inputs: [
        wide(draw, dtype, shape),
        isShift
          ? draw.tensor(dtype, other, { number: (d) => d.int(0, 63) })
          : divides
            ? // The least number over -1 has no result.
              wide(draw, dtype, other, false)
            : wide(draw, dtype, other),
      ],
      parameters: draw.pick([[], [1]]),
      ...rest,
    };
  };
}

function wideUnary(
  op: string,
  opset: number,
  attributes: NodeCase['attributes'] = {},
): CaseGenerator {
  return (draw) => ({
    op,
    opset,
    inputs: [wide(draw, 'int64', draw.shape({ from: 1, to: 3, zero: 0 }))],
    attributes,
  });
}

/** Casts of integers of all widths at the ends of their ranges, which wrap. */
function castIntegers(draw: Draw): NodeCase {
  const dtypes = [
    'uint8',
    'int8',
    'uint16',
    'int16',
    'int32',
    'int64',
    'bool',
    'uint32',
    'uint64',
  ] as const;
  const to = ELEMENT_TYPES[draw.pick(dtypes)];
  const from = draw.pick(['int64', 'uint64'] as const);
  return {
    op: 'Cast',
    opset: draw.pick([9, 13, 19]),
    inputs: [wide(draw, from, draw.shape({ to: 3 }))],
    attributes: { to },
  };
}

const HALVES: readonly number[] = [
  65504,
  65519,
  65520,
  65536,
  1e-8,
  6e-8,
  2.9e-8,
  3.1e-8,
  0.1,
  1 / 3,
  2049,
  2051,
  1.0009765,
  NaN,
  Infinity,
  -Infinity,
  0,
  -0,
];

function castHalves(draw: Draw): NodeCase {
  const sign = () => (draw.often(0.5) ? 1 : -1);
  return {
    op: 'Cast',
    opset: 13,
    inputs: [
      draw.tensor(draw.pick(['float32', 'float64'] as const), draw.shape({ to: 3 }), {
        number: (d) => sign() * d.pick(HALVES),
      }),
    ],
    attributes: { to: draw.pick([10, 9, 1, 11]) },
    atol: 1e-9,
  };
}

/** Bases and exponents with defined results at the ends. */
const POWERS: readonly number[] = [NaN, Infinity, -Infinity, 0, -0, 1, -1, 2, -2, 0.5, -0.5, 3];

function pow(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3 });
  const elements: Elements = { number: (d) => d.pick(POWERS) };
  return {
    op: 'Pow',
    opset: 13,
    inputs: [
      draw.tensor('float32', shape, elements),
      draw.tensor('float32', draw.broadcastable(shape), elements),
    ],
    parameters: draw.pick([[], [1]]),
  };
}

function unary(op: string, opset: number, attributes: NodeCase['attributes'] = {}): CaseGenerator {
  return (draw) => ({
    op,
    opset,
    inputs: [
      draw.tensor(
        draw.pick(['float32', 'float32', 'float64'] as const),
        draw.shape({ from: 1, to: 3 }),
        edges,
      ),
    ],
    attributes,
  });
}

function along(op: string, opset: number, elements: Elements): CaseGenerator {
  return (draw) => {
    const shape = draw.shape({ from: 1, to: 3, zero: 0 });
    return {
      op,
      opset,
      inputs: [draw.tensor('float32', shape, elements)],
      attributes: { axis: draw.axis(shape.length) },
      atol: 1e-4,
    };
  };
}

function binary(op: string, opset: number, rest: Partial<NodeCase> = {}): CaseGenerator {
  return (draw) => {
    const shape = draw.shape({ to: 4 });
    return {
      op,
      opset,
      inputs: [
        draw.tensor('float32', shape, edges),
        draw.tensor('float32', draw.broadcastable(shape), edges),
      ],
      parameters: draw.pick([[], [1]]),
      ...rest,
    };
  };
}

function maxPool(draw: Draw): NodeCase {
  return {
    op: 'MaxPool',
    opset: 12,
    inputs: [draw.tensor('float32', [1, 2, 5, 5], infinities)],
    attributes: { kernel_shape: [2, 2], pads: draw.maybe(() => [1, 1, 1, 1]) },
    outputs: draw.int(1, 2),
  };
}

function clip(draw: Draw): NodeCase {
  const bound = () => scalar('float32', draw.pick([-Infinity, Infinity, -1, 0, 1, 2]));
  return {
    op: 'Clip',
    opset: 13,
    inputs: [draw.tensor('float32', draw.shape({ to: 3 }), edges), bound(), bound()],
    parameters: draw.pick([[], [1, 2]]),
  };
}

function topK(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3, zero: 0 });
  const axis = draw.axis(shape.length);
  return {
    op: 'TopK',
    opset: 11,
    inputs: [draw.tensor('float32', shape, infinities), ints([draw.int(1, shape.at(axis) ?? 1)])],
    parameters: [1],
    attributes: { axis, largest: draw.int(0, 1) },
    outputs: 2,
  };
}

function wideReduction(op: string): CaseGenerator {
  return (draw) => {
    const shape = draw.shape({ from: 1, to: 3, zero: 0 });
    return {
      op,
      opset: 18,
      inputs: [
        wide(draw, draw.pick(['int64', 'uint64'] as const), shape),
        ints(draw.axes(shape.length)),
      ],
      parameters: [1],
    };
  };
}

/** Numbers at the ends of their types: infinities, NaN, both zeros, integers of 64 bits. */
export const EDGE_CASES: CaseTable = {
  'edge.Add': wideBinary('Add', 14),
  'edge.ArgMax': along('ArgMax', 13, infinities),
  'edge.BitShift.left': wideBinary('BitShift', 11, { attributes: { direction: 'LEFT' } }),
  'edge.BitShift.right': wideBinary('BitShift', 11, { attributes: { direction: 'RIGHT' } }),
  'edge.BitwiseAnd': wideBinary('BitwiseAnd', 18),
  'edge.Cast.halves': castHalves,
  'edge.Cast.integers': castIntegers,
  'edge.Clip': clip,
  'edge.CumSum': (draw) => ({
    op: 'CumSum',
    opset: 14,
    inputs: [wide(draw, 'int64', [draw.int(1, 5), 3]), scalar('int64', 0)],
    parameters: [1],
  }),
  'edge.Div': wideBinary('Div', 14),
  'edge.Div.floats': binary('Div', 14),
  'edge.Equal': wideBinary('Equal', 19),
  'edge.Less': wideBinary('Less', 13),
  'edge.Max': binary('Max', 13),
  'edge.MaxPool': maxPool,
  'edge.Min': wideBinary('Min', 13),
  'edge.Mod': wideBinary('Mod', 13),
  'edge.Mod.fmod': binary('Mod', 13, { attributes: { fmod: 1 } }),
  'edge.Mul': wideBinary('Mul', 14),
  'edge.Mul.floats': binary('Mul', 14),
  'edge.Neg': wideUnary('Neg', 13),
  'edge.Pow': pow,
  'edge.ReduceMax': wideReduction('ReduceMax'),
  'edge.ReduceMin': wideReduction('ReduceMin'),
  'edge.Round': unary('Round', 11),
  'edge.Sign': wideUnary('Sign', 13),
  'edge.Sign.floats': unary('Sign', 13),
  'edge.Softmax': along('Softmax', 13, {
    number: (d) => d.pick([-3e38, 3e38, 0, 1, -100, 88, 1e30]),
  }),
  'edge.Sub': wideBinary('Sub', 14),
  'edge.TopK': topK,
};
