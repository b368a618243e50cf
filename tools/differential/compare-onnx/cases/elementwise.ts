import type { DType } from '../../../../src/core/tensor/dtype.ts';
import { ELEMENT_TYPES } from '../../../../src/testing/onnx-writer.ts';
import {
  between,
  type Draw,
  edges,
  type Elements,
  infinities,
  integersBetween,
  positive,
  quarters,
  reals,
  scalar,
} from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

const FLOATS: readonly DType[] = ['float32', 'float32', 'float32', 'float64', 'float16'];
const NUMBERS: readonly DType[] = [...FLOATS, 'int32', 'int64'];
const ALL_NUMBERS: readonly DType[] = [
  ...NUMBERS,
  'int8',
  'uint8',
  'int16',
  'uint16',
  'uint32',
  'uint64',
];

interface UnaryOptions {
  readonly versions: readonly number[];
  readonly dtypes?: readonly DType[];
  readonly elements?: Elements;
  readonly attributes?: (draw: Draw) => NodeCase['attributes'];
  /** Of float16, where numbers that cancel out were rounded before. */
  readonly halfAtol?: number;
}

function unary(
  op: string,
  { versions, dtypes = FLOATS, elements = infinities, attributes, halfAtol = 0 }: UnaryOptions,
): CaseGenerator {
  return (draw) => {
    const dtype = draw.pick(dtypes);
    const isFloat = dtype.startsWith('float');
    return {
      op,
      opset: draw.pick(versions),
      inputs: [draw.tensor(dtype, draw.shape({ to: 6 }), isFloat ? elements : undefined)],
      attributes: attributes?.(draw) ?? {},
      atol: dtype === 'float16' ? halfAtol : 0,
    };
  };
}

const float = (draw: Draw, low: number, high: number, probability = 0.6) =>
  draw.maybe(() => ({ float: draw.real(low, high) }), probability);

interface BinaryOptions {
  readonly versions: readonly number[];
  readonly dtypes: readonly DType[];
  readonly elements?: Elements;
  readonly divisors?: boolean;
  readonly attributes?: (draw: Draw, dtype: DType) => NodeCase['attributes'];
}

function operandPair(draw: Draw): [number[], number[]] {
  const shape = draw.shape({ to: 6 });
  const other = draw.broadcastable(shape);
  return draw.often(0.5) ? [shape, other] : [other, shape];
}

function binary(op: string, options: BinaryOptions): CaseGenerator {
  return (draw) => {
    const { versions, dtypes, elements, divisors = false, attributes } = options;
    const dtype = draw.pick(dtypes);
    const isFloat = dtype.startsWith('float');
    const [a, b] = operandPair(draw);
    const divisor: Elements = {
      number: (d) => d.int(1, 9) * (dtype.startsWith('u') || d.often(0.5) ? 1 : -1),
    };
    return {
      op,
      opset: draw.pick(versions),
      inputs: [
        draw.tensor(dtype, a, isFloat ? elements : undefined),
        draw.tensor(dtype, b, isFloat ? elements : divisors ? divisor : undefined),
      ],
      parameters: [draw.int(0, 1)],
      attributes: attributes?.(draw, dtype) ?? {},
    };
  };
}

function variadic(
  op: string,
  versions: readonly number[],
  dtypes: readonly DType[],
): CaseGenerator {
  return (draw) => {
    const dtype = draw.pick(dtypes);
    const shape = draw.shape({ to: 4 });
    const isFloat = dtype.startsWith('float');
    return {
      op,
      opset: draw.pick(versions),
      inputs: Array.from({ length: draw.int(1, 4) }, (_, i) =>
        draw.tensor(
          dtype,
          i === 0 ? shape : draw.broadcastable(shape),
          isFloat ? edges : undefined,
        ),
      ),
    };
  };
}

function clip(draw: Draw): NodeCase {
  const opset = draw.pick([6, 11, 12, 13]);
  const dtype =
    opset >= 12
      ? draw.pick(ALL_NUMBERS.filter((d) => !d.endsWith('16') || d === 'float16'))
      : 'float32';
  const x = draw.tensor(dtype, draw.shape(), dtype.startsWith('float') ? infinities : undefined);
  if (opset < 11) {
    return {
      op: 'Clip',
      opset,
      inputs: [x],
      attributes: { min: float(draw, -2, 0), max: float(draw, -1, 2) },
    };
  }
  const low = draw.maybe(() => scalar(dtype, dtype.startsWith('u') ? 2 : draw.int(-3, 3)), 0.7);
  const high = draw.maybe(() => scalar(dtype, draw.int(dtype.startsWith('u') ? 0 : -3, 9)), 0.7);
  return { op: 'Clip', opset, inputs: [x, low, high], parameters: [1, 2] };
}

function pow(draw: Draw): NodeCase {
  const opset = draw.pick([7, 12, 13, 15]);
  const dtypes: readonly DType[] = ['float32', 'float64', 'int32', 'int64'];
  const base = opset < 12 ? 'float32' : draw.pick(dtypes);
  const exponent = opset < 12 ? base : draw.pick(dtypes);
  const [a, b] = operandPair(draw);
  const bases = base.startsWith('int')
    ? integersBetween(1, 9)
    : draw.pick([positive, integersBetween(-4, 4)]);
  const exponents = draw.pick([
    integersBetween(0, 4),
    integersBetween(2, 3),
    exponent.startsWith('int') || bases !== positive ? integersBetween(0, 3) : between(-2, 2),
  ]);
  return {
    op: 'Pow',
    opset,
    inputs: [draw.tensor(base, a, bases), draw.tensor(exponent, b, exponents)],
    parameters: [1],
  };
}

function prelu(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1 });
  return {
    op: 'PRelu',
    opset: draw.pick([7, 9, 16]),
    inputs: [
      draw.tensor(draw.pick(['float32', 'float32', 'int32', 'int64']), shape),
      undefined,
    ].map((x, i, all) =>
      i === 0 ? x : draw.tensor(all[0]?.dtype ?? 'float32', draw.broadcastable(shape)),
    ),
    parameters: [1],
  };
}

function where(draw: Draw): NodeCase {
  const dtype = draw.pick([...ALL_NUMBERS, 'bool'] as const);
  const shape = draw.shape({ to: 5 });
  const shapes = draw.shuffled([shape, draw.broadcastable(shape), draw.broadcastable(shape)]);
  return {
    op: 'Where',
    opset: draw.pick([9, 16]),
    inputs: shapes.map((dims, i) =>
      draw.tensor(
        i === 0 ? 'bool' : dtype,
        dims,
        i > 0 && dtype.startsWith('float') ? edges : undefined,
      ),
    ),
    parameters: draw.pick([[0], [1], [2], [1, 2]]),
  };
}

function bitShift(draw: Draw): NodeCase {
  const dtype = draw.pick(['uint8', 'uint16', 'uint32', 'uint64'] as const);
  const bits = Number(dtype.slice(4));
  const [a, b] = operandPair(draw);
  return {
    op: 'BitShift',
    opset: 11,
    inputs: [
      draw.tensor(dtype, a, integersBetween(0, 255)),
      draw.tensor(dtype, b, integersBetween(0, bits - 1)),
    ],
    parameters: [1],
    attributes: { direction: draw.pick(['LEFT', 'RIGHT']) },
  };
}

const CAST_TYPES: readonly DType[] = [
  'float32',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'int32',
  'int64',
  'bool',
  'float16',
  'float64',
  'uint32',
  'uint64',
];

function castElements(from: DType, to: DType): Elements | undefined {
  if (from === 'bool') return undefined;
  if (to.startsWith('float') || to === 'bool')
    return from.startsWith('float') ? edges : integersBetween(-120, 120);
  // A float outside of the integer's range gives an undefined result.
  if (!from.startsWith('float')) return integersBetween(-2000, 70000);
  return to.startsWith('u') ? between(0, 120) : between(-120, 120);
}

function cast(draw: Draw): NodeCase {
  const from = draw.pick(CAST_TYPES);
  const to = draw.pick(CAST_TYPES);
  return {
    op: 'Cast',
    opset: draw.pick([6, 9, 13, 19, 21]),
    inputs: [draw.tensor(from, draw.shape({ to: 4 }), castElements(from, to))],
    attributes: { to: ELEMENT_TYPES[to] },
  };
}

function castLike(draw: Draw): NodeCase {
  const node = cast(draw);
  const to = draw.pick(CAST_TYPES);
  const from = node.inputs[0]?.dtype ?? 'float32';
  return {
    op: 'CastLike',
    opset: draw.pick([15, 19]),
    inputs: [
      draw.tensor(from, draw.shape({ to: 4 }), castElements(from, to)),
      draw.tensor(to, [2]),
    ],
  };
}

const COMPARED: readonly DType[] = ['float32', 'float64', 'int32', 'int64'];
const ARITHMETIC = { versions: [7, 13, 14], dtypes: ALL_NUMBERS.filter((d) => !/nt16/.test(d)) };
const unaries = (names: Readonly<Record<string, UnaryOptions>>): Record<string, CaseGenerator> =>
  Object.fromEntries(Object.entries(names).map(([op, options]) => [op, unary(op, options)]));

export const ELEMENTWISE_CASES: CaseTable = {
  ...unaries({
    Abs: { versions: [6, 13], dtypes: ALL_NUMBERS, elements: edges },
    Acos: { versions: [7, 22], elements: between(-1.2, 1.2) },
    Acosh: { versions: [9, 22], elements: between(0.8, 9) },
    Asin: { versions: [7, 22], elements: between(-1.2, 1.2) },
    Asinh: { versions: [9, 22] },
    Atan: { versions: [7, 22], elements: edges },
    Atanh: { versions: [9, 22], elements: between(-1.1, 1.1) },
    BitwiseNot: {
      versions: [18],
      dtypes: ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
    },
    Ceil: { versions: [6, 13], elements: edges },
    Celu: { versions: [12], dtypes: ['float32'], attributes: (d) => ({ alpha: float(d, 0.2, 3) }) },
    Cos: { versions: [7, 22], elements: between(-100, 100) },
    Cosh: { versions: [9, 22], elements: between(-100, 100) },
    Elu: { versions: [6, 22], attributes: (d) => ({ alpha: float(d, -2, 3) }) },
    Erf: { versions: [9, 13], elements: edges },
    Exp: { versions: [6, 13], elements: infinities },
    Floor: { versions: [6, 13], elements: edges },
    Gelu: {
      versions: [20],
      attributes: (d) => ({ approximate: d.maybe(() => d.pick(['none', 'tanh'])) }),
    },
    HardSigmoid: {
      versions: [6, 22],
      halfAtol: 1e-3,
      attributes: (d) => ({ alpha: float(d, -1, 1), beta: float(d, -1, 1) }),
    },
    HardSwish: { versions: [14, 22], elements: quarters },
    Identity: { versions: [1, 13, 14, 19], dtypes: [...ALL_NUMBERS, 'bool'], elements: edges },
    IsInf: {
      versions: [10, 20],
      dtypes: ['float32', 'float64'],
      elements: edges,
      attributes: (d) => ({
        detect_negative: d.maybe(() => d.int(0, 1)),
        detect_positive: d.maybe(() => d.int(0, 1)),
      }),
    },
    IsNaN: { versions: [9, 13, 20], elements: edges },
    LeakyRelu: { versions: [6, 16], attributes: (d) => ({ alpha: float(d, -1, 1) }) },
    Log: { versions: [6, 13], elements: edges },
    Mish: { versions: [18, 22], elements: infinities },
    Neg: {
      versions: [6, 13],
      dtypes: ['float32', 'float64', 'int8', 'int32', 'int64'],
      elements: edges,
    },
    Not: { versions: [1], dtypes: ['bool'] },
    Reciprocal: { versions: [6, 13], elements: edges },
    Relu: {
      versions: [6, 13, 14],
      dtypes: ['float32', 'float64', 'float16', 'int8', 'int32', 'int64'],
      elements: infinities,
    },
    Round: {
      versions: [11, 22],
      elements: { number: (d) => (d.often(0.3) ? edges : quarters).number(d) },
    },
    Selu: {
      versions: [6, 22],
      attributes: (d) => ({ alpha: float(d, 0, 3), gamma: float(d, 0, 3) }),
    },
    Shrink: {
      versions: [9],
      dtypes: ALL_NUMBERS,
      elements: quarters,
      attributes: (d) => ({
        bias: d.maybe(() => ({ float: d.int(-2, 2) })),
        lambd: float(d, 0, 2),
      }),
    },
    Sigmoid: { versions: [6, 13] },
    Sign: { versions: [9, 13], dtypes: ALL_NUMBERS, elements: infinities },
    Sin: { versions: [7, 22], elements: between(-100, 100) },
    Sinh: { versions: [9, 22], elements: between(-100, 100) },
    Softplus: { versions: [1, 22] },
    Softsign: { versions: [1, 22], elements: reals },
    Sqrt: { versions: [6, 13], elements: edges },
    Swish: { versions: [24], attributes: (d) => ({ alpha: float(d, -2, 2) }) },
    Tan: { versions: [7, 22], elements: between(-1.4, 1.4) },
    Tanh: { versions: [6, 13] },
    ThresholdedRelu: { versions: [10, 22], attributes: (d) => ({ alpha: float(d, -2, 2) }) },
  }),
  Add: binary('Add', ARITHMETIC),
  And: binary('And', { versions: [7], dtypes: ['bool'] }),
  BitShift: bitShift,
  BitwiseAnd: binary('BitwiseAnd', {
    versions: [18],
    dtypes: ['int8', 'uint8', 'int32', 'uint32', 'int64', 'uint64'],
  }),
  BitwiseOr: binary('BitwiseOr', {
    versions: [18],
    dtypes: ['int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
  }),
  BitwiseXor: binary('BitwiseXor', {
    versions: [18],
    dtypes: ['int8', 'uint8', 'int32', 'uint32', 'int64', 'uint64'],
  }),
  Cast: cast,
  CastLike: castLike,
  Clip: clip,
  Div: binary('Div', { ...ARITHMETIC, divisors: true }),
  Equal: binary('Equal', {
    versions: [7, 11, 13, 19],
    dtypes: [...COMPARED, 'bool', 'uint8', 'int8'],
    elements: { number: (d) => (d.often(0.3) ? edges : quarters).number(d) },
  }),
  Greater: binary('Greater', { versions: [7, 9, 13], dtypes: COMPARED, elements: edges }),
  GreaterOrEqual: binary('GreaterOrEqual', {
    versions: [12, 16],
    dtypes: COMPARED,
    elements: edges,
  }),
  Less: binary('Less', { versions: [7, 9, 13], dtypes: COMPARED, elements: edges }),
  LessOrEqual: binary('LessOrEqual', { versions: [12, 16], dtypes: COMPARED, elements: edges }),
  Max: variadic('Max', [8, 12, 13], [...NUMBERS, 'uint32', 'uint64', 'uint8', 'int8']),
  Mean: variadic('Mean', [8, 13], ['float32']),
  Min: variadic('Min', [8, 12, 13], [...NUMBERS, 'uint32', 'uint64', 'uint8', 'int8']),
  Mod: binary('Mod', {
    versions: [10, 13],
    dtypes: ALL_NUMBERS,
    elements: { number: (d) => d.real(0.3, 5) * (d.often(0.5) ? 1 : -1) },
    divisors: true,
    attributes: (d, dtype) => ({
      fmod: dtype.startsWith('float') ? 1 : d.maybe(() => d.int(0, 1)),
    }),
  }),
  Mul: binary('Mul', ARITHMETIC),
  Or: binary('Or', { versions: [7], dtypes: ['bool'] }),
  PRelu: prelu,
  Pow: pow,
  Sub: binary('Sub', ARITHMETIC),
  Sum: variadic('Sum', [8, 13], ['float32', 'float64']),
  Where: where,
  Xor: binary('Xor', { versions: [7], dtypes: ['bool'] }),
};
