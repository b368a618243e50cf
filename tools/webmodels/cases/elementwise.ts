import type { DType } from '../../../src/core/tensor/dtype.ts';
import { dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import { quarters } from '../../differential/compare-onnx/draw.ts';
import {
  between,
  type Elements,
  held,
  integersBetween,
  type Kind,
  like,
  type LiteCases,
  type LiteCaseTable,
  type LiteDraw,
  type LiteOperand,
  NUMBERS,
  reals,
} from './lite-case.ts';

const isInteger = (kind: Kind): boolean => kind === 'int32' || kind === 'int64';

interface Pair {
  readonly first?: Elements | undefined;
  readonly second?: Elements | undefined;
  readonly isAlike?: boolean;
}

/** Two operands, one of which may be smaller or held. */
function pair(
  draw: LiteDraw,
  kind: Kind,
  { first, second, isAlike = false }: Pair = {},
): [LiteOperand, LiteOperand] {
  const shape = draw.dims();
  const smaller = isAlike || draw.often(0.5) ? shape : draw.broadcastable(shape);
  const of = (elements: Elements | undefined) => (elements === undefined ? {} : { elements });
  const a = draw.operand(kind, shape, of(first));
  const b = draw.operand(kind, smaller, of(second));
  return [a, draw.often(0.4) ? held(b) : b];
}

/** The larger of two shapes of which one broadcasts to the other. */
const whole = ([a, b]: readonly [LiteOperand, LiteOperand]) =>
  a.shape.length >= b.shape.length ? a.shape : b.shape;

interface Arithmetic {
  readonly kinds: readonly Kind[];
  /** The table of options, for an operator with an activation. */
  readonly table?: string;
  readonly elements?: (kind: Kind) => readonly [first: Elements | undefined, second: Elements];
  /** How large results are, beside the operands. */
  readonly terms?: number;
  /** Kernels want operands of one shape. */
  readonly isAlike?: boolean;
  /** Operands and results have the same codes. */
  readonly isRaw?: boolean;
}

function arithmetic({
  kinds,
  table,
  elements,
  terms = 1,
  isAlike = false,
  isRaw = false,
}: Arithmetic): LiteCases {
  return {
    kinds,
    draw(draw, kind) {
      const [first, second] = elements?.(kind) ?? [];
      const [a, other] = pair(draw, kind, { first, second, isAlike });
      const b = isRaw ? { ...other, quantization: a.quantization } : other;
      const isSwapped = table !== 'div' && second === undefined && draw.often(0.3);
      const activation = isInteger(kind) ? 0 : draw.activation();
      const shape = whole([a, b]);
      return {
        ...(table === undefined ? {} : { options: [table, { activation }] as const }),
        inputs: isSwapped ? [b, a] : [a, b],
        outputs: [isRaw ? like(a, shape) : draw.result(kind, shape, terms)],
      };
    },
  };
}

const nonZero: Elements = {
  number: (draw) => draw.pick([-1, 1]) * draw.real(0.5, 3),
};
const nonZeroInteger: Elements = { number: (draw) => draw.pick([-7, -3, -2, -1, 1, 2, 3, 5]) };
const divisor = (kind: Kind) => [undefined, kind === 'float32' ? nonZero : nonZeroInteger] as const;

const compares = (kinds: readonly Kind[]): LiteCases => ({
  kinds,
  draw(draw, kind) {
    const [a, b] = pair(draw, kind);
    return { inputs: [a, b], outputs: [{ dtype: 'bool', shape: whole([a, b]) }] };
  },
});

const ORDERED: readonly Kind[] = ['float32', 'int32', 'int64', 'int8', 'uint8'];

const unary = (
  elements: Elements = reals,
  kinds: readonly Kind[] = ['float32'],
  table?: string,
): LiteCases => ({
  kinds,
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(), isInteger(kind) ? {} : { elements });
    return {
      ...(table === undefined ? {} : { options: [table, {}] as const }),
      inputs: [x],
      outputs: [like(x, x.shape)],
    };
  },
});

const logical: LiteCases = {
  kinds: ['bool'],
  draw(draw, kind) {
    const [a, b] = pair(draw, kind);
    return { inputs: [a, b], outputs: [like(a, whole([a, b]))] };
  },
};

/** What an activation gives in codes: the given ones, or others than its input has. */
interface Activation {
  readonly kinds?: readonly Kind[];
  readonly options?: readonly [
    string,
    (draw: LiteDraw) => Readonly<Record<string, number | boolean>>,
  ];
  /** The range of reals that the codes of the result have to stand for, by dtype. */
  readonly range?: Readonly<Partial<Record<Kind, readonly [scale: number, zero: number]>>>;
  readonly from?: number;
}

function activation({
  kinds = ['float32', 'int8', 'uint8'],
  options,
  range,
  from = 1,
}: Activation = {}): LiteCases {
  return {
    kinds,
    draw(draw, kind) {
      const x = draw.operand(kind, draw.dims(from), { elements: reals });
      const fixed = range?.[kind];
      const output =
        fixed === undefined
          ? draw.result(kind, x.shape)
          : {
              ...like(x, x.shape),
              quantization: { scale: [fixed[0]], zero: [fixed[1]], axis: 0 },
            };
      return {
        ...(options === undefined ? {} : { options: [options[0], options[1](draw)] as const }),
        inputs: [x],
        outputs: [output],
      };
    },
  };
}

const WITH_INT16: readonly Kind[] = ['float32', 'int8', 'uint8', 'int16'];

const unit = { int8: [1 / 256, -128], uint8: [1 / 256, 0], int16: [1 / 32768, 0] } as const;
const signed = { int8: [1 / 128, 0], uint8: [1 / 128, 128], int16: [1 / 32768, 0] } as const;
const logarithm = { int8: [16 / 256, 127], uint8: [16 / 256, 255] } as const;

const prelu: LiteCases = {
  kinds: ['float32', 'int8', 'uint8'],
  draw(draw, kind) {
    const shape = draw.dims(2);
    const slope = draw.often(0.7)
      ? shape.map((dim, i) => (i === shape.length - 1 ? dim : 1))
      : shape;
    const alpha = draw.operand(kind, slope.slice(1), { elements: between(-1, 1) });
    return {
      inputs: [draw.operand(kind, shape, { elements: reals }), held(alpha)],
      outputs: [draw.result(kind, shape)],
    };
  },
};

/** From a type to another; a real of a fraction is cut. */
const TYPES: readonly DType[] = ['float32', 'int32', 'int64', 'bool', 'uint8', 'int8', 'int16'];
const cast: LiteCases = {
  kinds: ['float32', 'int32', 'int64', 'bool', 'uint8'],
  draw(draw, kind) {
    const to = draw.pick(TYPES.filter((dtype) => dtype !== kind));
    const isUnsigned = dtypeInfo(to).category === 'uint';
    const shape = draw.dims();
    const elements = isUnsigned ? between(0, 100) : between(-100, 100);
    const x = draw.operand(kind, shape, kind === 'bool' ? {} : { elements });
    const { quantization: _, ...plain } = x;
    return { inputs: [plain], outputs: [{ dtype: to, shape }] };
  },
};

const quantize: LiteCases = {
  kinds: ['float32', 'int8', 'uint8', 'int16'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(), { elements: reals });
    const to = draw.pick(
      (['int8', 'uint8', 'int16'] as const).filter((dtype) =>
        // LiteRT has no uint8 beside int16.
        kind === 'int16' ? dtype !== 'uint8' : kind === 'uint8' ? dtype !== 'int16' : true,
      ),
    );
    return { inputs: [x], outputs: [draw.result(to, x.shape)] };
  },
};

const dequantize: LiteCases = {
  kinds: ['int8', 'uint8', 'int16'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims());
    return { inputs: [x], outputs: [{ dtype: 'float32', shape: x.shape }] };
  },
};

const select = (isBroadcast: boolean): LiteCases => ({
  kinds: ['float32', 'int32', 'int64', 'int8', 'uint8', 'bool'],
  draw(draw, kind) {
    const shape = draw.dims();
    const shapeOf = () => (isBroadcast && draw.often(0.5) ? draw.broadcastable(shape) : shape);
    const a = draw.operand(kind, shape);
    const b = draw.operand(
      kind,
      shapeOf(),
      a.quantization === undefined ? {} : { quantization: a.quantization },
    );
    const first = isBroadcast ? shapeOf() : draw.often(0.3) ? shape.slice(0, 1) : shape;
    const condition = draw.operand('bool', first);
    return { inputs: [condition, a, b], outputs: [like(a, shape)] };
  },
});

const fakeQuant: LiteCases = {
  kinds: ['float32'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(), { elements: reals });
    const fields = {
      min: draw.real(-3, -0.5),
      max: draw.real(0.5, 3),
      bits: draw.pick([4, 8]),
      narrow: false,
    };
    return { options: ['fakeQuant', fields], inputs: [x], outputs: [like(x, x.shape)] };
  },
};

const addN: LiteCases = {
  kinds: ['float32', 'int32'],
  draw(draw, kind) {
    const shape = draw.dims();
    const inputs = Array.from({ length: draw.int(2, 4) }, () => draw.operand(kind, shape));
    return { inputs, outputs: [draw.result(kind, shape)] };
  },
};

const positive = between(0.1, 3);

export const ELEMENTWISE: LiteCaseTable = {
  ADD: arithmetic({ kinds: [...NUMBERS, 'int8', 'uint8', 'int16'], table: 'add', terms: 3 }),
  SUB: arithmetic({ kinds: [...NUMBERS, 'int8', 'uint8', 'int16'], table: 'sub', terms: 3 }),
  MUL: arithmetic({ kinds: [...NUMBERS, 'int8', 'uint8', 'int16'], table: 'mul', terms: 6 }),
  DIV: arithmetic({ kinds: ['float32', 'int32'], table: 'div', elements: divisor }),
  FLOOR_DIV: arithmetic({ kinds: ['float32', 'int32'], elements: divisor }),
  FLOOR_MOD: arithmetic({ kinds: ['float32', 'int32', 'int64'], elements: divisor }),
  POW: arithmetic({
    kinds: ['float32', 'int32'],
    elements: (kind) =>
      kind === 'float32' ? [positive, reals] : [integersBetween(-4, 4), integersBetween(0, 4)],
  }),
  MAXIMUM: arithmetic({ kinds: ORDERED, isRaw: true }),
  MINIMUM: arithmetic({ kinds: ORDERED, isRaw: true }),
  SQUARED_DIFFERENCE: arithmetic({ kinds: ['float32', 'int32', 'int8'], terms: 6 }),
  ATAN2: arithmetic({ kinds: ['float32'], elements: () => [reals, reals], isAlike: true }),
  ADD_N: addN,
  EQUAL: compares([...ORDERED, 'bool']),
  NOT_EQUAL: compares([...ORDERED, 'bool']),
  LESS: compares(ORDERED),
  LESS_EQUAL: compares(ORDERED),
  GREATER: compares(ORDERED),
  GREATER_EQUAL: compares(ORDERED),
  LOGICAL_AND: logical,
  LOGICAL_OR: logical,
  LOGICAL_NOT: unary(undefined, ['bool']),
  ABS: unary(quarters, ['float32', 'int32']),
  NEG: unary(quarters, ['float32', 'int32', 'int64']),
  SIGN: unary(quarters, ['float32', 'int32']),
  SQUARE: unary(),
  SQRT: unary(positive),
  RSQRT: unary(positive),
  EXP: unary(),
  LOG: unary(positive),
  SIN: unary(),
  COS: unary(),
  FLOOR: unary(quarters),
  CEIL: unary(quarters),
  ROUND: unary(quarters),
  ZEROS_LIKE: unary(reals, ['float32', 'int32', 'int64']),
  CAST: cast,
  QUANTIZE: quantize,
  DEQUANTIZE: dequantize,
  SELECT: select(false),
  SELECT_V2: select(true),
  FAKE_QUANT: fakeQuant,
  RELU: activation(),
  RELU6: activation(),
  RELU_N1_TO_1: activation(),
  RELU_0_TO_1: activation({ kinds: ['float32'] }),
  LOGISTIC: activation({ kinds: WITH_INT16, range: unit }),
  TANH: activation({ kinds: WITH_INT16, range: signed }),
  ELU: activation({ kinds: ['float32', 'int8'] }),
  GELU: activation({
    kinds: ['float32'],
    options: ['gelu', (draw) => ({ approximate: draw.often(0.5) })],
  }),
  HARD_SWISH: activation(),
  LEAKY_RELU: activation({
    kinds: WITH_INT16,
    options: ['leakyRelu', (draw) => ({ alpha: draw.real(-0.5, 0.9) })],
  }),
  PRELU: prelu,
  SOFTMAX: activation({
    kinds: WITH_INT16,
    options: ['softmax', (draw) => ({ beta: draw.pick([1, 1, 0.5, 2]) })],
    range: unit,
  }),
  LOG_SOFTMAX: activation({ kinds: ['float32', 'int8', 'uint8'], range: logarithm }),
  L2_NORMALIZATION: activation({ kinds: ['float32', 'int8', 'uint8'], range: signed, from: 2 }),
};
