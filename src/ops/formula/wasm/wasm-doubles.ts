import { apply, type Expression, vector } from '../../../wasm/expression.ts';
import { type Bind } from '../../../wasm/statement.ts';
import { both, signed } from './double-lanes.ts';

/** Computes two elements of float64. */
export type DoubleFunction = (operands: readonly Expression[], bind: Bind) => Expression;

const bits = (value: bigint): Expression => vector(new BigInt64Array(2).fill(value));
const distance = (count: number): Expression => ({ kind: 'constant', type: 'i32', value: count });

const add = (a: Expression, b: Expression) => apply('f64x2.add', a, b);
const sub = (a: Expression, b: Expression) => apply('f64x2.sub', a, b);
const mul = (a: Expression, b: Expression) => apply('f64x2.mul', a, b);
const div = (a: Expression, b: Expression) => apply('f64x2.div', a, b);
const sqrt = (a: Expression) => apply('f64x2.sqrt', a);
const absolute = (a: Expression) => apply('f64x2.abs', a);
const choose = (condition: Expression, a: Expression, b: Expression) =>
  apply('v128.bitselect', a, b, condition);
const is = (comparison: 'eq' | 'ne' | 'lt' | 'gt' | 'le' | 'ge', a: Expression, b: number) =>
  apply(`f64x2.${comparison}`, a, both(b));

/** Evaluates a polynomial by Horner's rule; the highest power comes first. */
function polynomial(x: Expression, coefficients: readonly number[]): Expression {
  const [first = 0, ...rest] = coefficients;
  return rest.reduce<Expression>((sum, next) => add(mul(sum, x), both(next)), both(first));
}

/** 1 / 13!, 1 / 12!, … 1 / 0!. */
const FACTORIALS = Array.from({ length: 14 }, (_, i) => {
  let product = 1;
  for (let factor = 2; factor <= 13 - i; factor++) product *= factor;
  return 1 / product;
});

/** The two parts of ln 2, the first of 33 bits: products of it with exponents are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** 2^n for whole numbers n, by the exponent's bits. A magic sum puts n into the low bits. */
const powerOfTwo = (n: Expression) =>
  apply(
    'i64x2.shl',
    apply('i64x2.add', add(n, both(2 ** 52 + 2 ** 51)), bits(1023n)),
    distance(52),
  );

/** 2^n times what Taylor's series gives for the rest, up to half of ln 2. */
const exp: DoubleFunction = ([x = both(0)], bind) => {
  const clamped = bind(apply('f64x2.max', apply('f64x2.min', x, both(710)), both(-746)));
  const n = bind(apply('f64x2.nearest', mul(clamped, both(Math.LOG2E))));
  const rest = bind(sub(sub(clamped, mul(n, both(LN2_HIGH))), mul(n, both(LN2_LOW))));
  const power = polynomial(rest, FACTORIALS);
  // In two factors, lest one overflows where the product does not.
  const half = bind(apply('f64x2.floor', mul(n, both(0.5))));
  return mul(mul(power, powerOfTwo(half)), powerOfTwo(sub(n, half)));
};

/** Bits of the square root of 1/2. */
const SQRT_HALF = 0x3fe6a09e667f3bcdn;

/** fdlibm's `log`: the exponent, and the series of the area tangent of what is left. */
const log: DoubleFunction = ([x = both(1)], bind) => {
  const isSmall = bind(is('lt', x, 2 ** -1022));
  const normal = bind(choose(isSmall, mul(x, both(2 ** 54)), x));
  const above = bind(apply('i64x2.sub', normal, bits(SQRT_HALF)));
  const whole = apply('i64x2.shr_s', above, distance(52));
  // The low bits of 2^52 + 2^51 + n are those of n.
  const magic = 2 ** 52 + 2 ** 51;
  const asFloat = sub(apply('i64x2.add', whole, both(magic)), both(magic));
  const exponent = bind(sub(asFloat, apply('v128.and', isSmall, both(54))));
  const kept = apply('v128.and', above, bits(2n ** 52n - 1n));
  const f = bind(sub(apply('i64x2.add', kept, bits(SQRT_HALF)), both(1)));
  const s = bind(div(f, add(f, both(2))));
  const z = bind(mul(s, s));
  const series = mul(
    z,
    polynomial(
      z,
      [
        0.14798198605116586, 0.15313837699209373, 0.1818357216161805, 0.22222198432149784,
        0.2857142874366239, 0.3999999999940942, 0.6666666666666735,
      ],
    ),
  );
  const square = bind(mul(mul(f, f), both(0.5)));
  const low = add(mul(s, add(square, series)), mul(exponent, both(LN2_LOW)));
  const value = sub(mul(exponent, both(LN2_HIGH)), sub(sub(square, low), f));
  const special = choose(is('lt', x, 0), both(NaN), x);
  const ends = choose(is('eq', x, 0), both(-Infinity), special);
  const isOrdinary = apply('v128.and', is('lt', x, Infinity), is('gt', x, 0));
  return choose(isOrdinary, value, ends);
};

/** W. Kahan's: what the sum with 1 rounds away is put right by a ratio. */
const log1p: DoubleFunction = ([x = both(0)], bind) => {
  const sum = bind(add(x, both(1)));
  const whole = bind(log([sum], bind));
  const ratio = mul(whole, div(x, sub(sum, both(1))));
  const isTiny = is('eq', sum, 1);
  const isEnd = apply('v128.or', is('eq', whole, Infinity), is('eq', whole, -Infinity));
  return choose(isTiny, x, choose(isEnd, whole, ratio));
};

/** The angle less whole quarters of a turn, and how many these are, as an i64. */
interface ReducedAngle {
  readonly rest: Expression;
  readonly quarters: Expression;
}

/** Up to here {@link reduceAngle} does. */
export const SMALL_ANGLE = 2 ** 20;

/** Of small angles: three parts of a quarter turn, products of the first two are exact. */
export function reduceAngle(x: Expression, bind: Bind): ReducedAngle {
  const n = bind(apply('f64x2.nearest', mul(x, both(2 / Math.PI))));
  const first = sub(x, mul(n, both(1.5707963267341256)));
  const second = sub(first, mul(n, both(6.077100506303966e-11)));
  const rest = bind(sub(second, mul(n, both(2.0222662487959506e-21))));
  return { rest, quarters: bind(add(n, both(2 ** 52 + 2 ** 51))) };
}

/** Digits of 2 / pi, 24 bits each. */
const TWO_OVER_PI = [
  0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041,
];

/**
 * M. Payne and R. Hanek's, of any number that float32 holds: its products with 24 bits of 2 / pi are
 * exact, and so are these less whole turns.
 */
export function reduceLargeAngle(x: Expression, bind: Bind): ReducedAngle {
  let [part, quarters] = [both(0), both(0)];
  for (const [i, digits] of TWO_OVER_PI.entries()) {
    const product = bind(mul(x, both(digits * 2 ** (-24 * (i + 1)))));
    const turns = apply('f64x2.nearest', mul(product, both(0.25)));
    const sum = bind(add(part, sub(product, mul(turns, both(4)))));
    const whole = bind(apply('f64x2.nearest', sum));
    quarters = bind(add(quarters, whole));
    part = bind(sub(sum, whole));
  }
  return {
    rest: mul(part, both(Math.PI / 2)),
    quarters: add(quarters, both(2 ** 52 + 2 ** 51)),
  };
}

/** fdlibm's polynomials on an eighth of a turn. */
function sineAndCosine(rest: Expression, bind: Bind): readonly [Expression, Expression] {
  const z = bind(mul(rest, rest));
  const sine = polynomial(
    z,
    [
      1.58969099521155e-10, -2.5050760253406863e-8, 0.0000027557313707070068,
      -0.0001984126982985795, 0.00833333333332249, -0.16666666666666632,
    ],
  );
  const cosine = polynomial(
    z,
    [
      -1.1359647557788195e-11, 2.087572321298175e-9, -2.7557314351390663e-7, 0.00002480158728947673,
      -0.001388888888887411, 0.0416666666666666,
    ],
  );
  return [
    bind(add(rest, mul(mul(rest, z), sine))),
    bind(add(sub(both(1), mul(z, both(0.5))), mul(mul(z, z), cosine))),
  ];
}

/** The functions of an angle that has been reduced. */
export const ANGULAR = {
  sin: (angle: ReducedAngle, bind: Bind) => turned(angle, 0n, bind),
  cos: (angle: ReducedAngle, bind: Bind) => turned(angle, 1n, bind),
  tan({ rest, quarters }: ReducedAngle, bind: Bind): Expression {
    const [sine, cosine] = sineAndCosine(rest, bind);
    const isOdd = bind(oddLanes(quarters));
    const below = choose(isOdd, apply('f64x2.neg', sine), cosine);
    return div(choose(isOdd, cosine, sine), below);
  },
} as const;

/** The sine, `turn` quarters further on: the cosine is the sine of a quarter more. */
function turned({ rest, quarters }: ReducedAngle, turn: bigint, bind: Bind): Expression {
  const [sine, cosine] = sineAndCosine(rest, bind);
  const quarter = bind(apply('i64x2.add', quarters, bits(turn)));
  const value = choose(oddLanes(quarter), cosine, sine);
  const sign = apply('v128.and', apply('i64x2.shl', quarter, distance(62)), bits(-(2n ** 63n)));
  return apply('v128.xor', value, sign);
}

const oddLanes = (n: Expression) => apply('i64x2.ne', apply('v128.and', n, bits(1n)), bits(0n));

/** fdlibm's `atan`: four intervals, on each a polynomial of the reduced argument. */
const atan: DoubleFunction = ([x = both(0)], bind) => {
  const a = bind(absolute(x));
  const intervals = [
    { from: 0.4375, offset: 0.4636476090008061, over: [2, -1, 1, 2] },
    { from: 0.6875, offset: Math.PI / 4, over: [1, -1, 1, 1] },
    { from: 1.1875, offset: 0.982793723247329, over: [1, -1.5, 1.5, 1] },
    { from: 2.4375, offset: Math.PI / 2, over: [0, -1, 1, 0] },
  ];
  let [above, below, offset] = [a, both(1), both(0)];
  for (const { from, offset: angle, over } of intervals) {
    const isBeyond = bind(is('ge', a, from));
    const [p = 0, q = 0, r = 0, s = 0] = over;
    above = bind(choose(isBeyond, p === 0 ? both(q) : add(mul(a, both(p)), both(q)), above));
    below = bind(choose(isBeyond, add(mul(a, both(r)), both(s)), below));
    offset = bind(choose(isBeyond, both(angle), offset));
  }
  const t = bind(div(above, below));
  const z = bind(mul(t, t));
  const series = polynomial(
    z,
    [
      0.016285820115365782, -0.036531572744216916, 0.049768779946159324, -0.058335701337905735,
      0.06661073137387531, -0.0769187620504483, 0.09090887133436507, -0.11111110405462356,
      0.14285714272503466, -0.19999999999876483, 0.3333333333333293,
    ],
  );
  return signed(sub(offset, sub(mul(mul(t, z), series), t)), x);
};

const asin: DoubleFunction = ([x = both(0)], bind) => {
  const rest = mul(sub(both(1), x), add(both(1), x));
  return atan([bind(div(x, sqrt(rest)))], bind);
};

const acos: DoubleFunction = ([x = both(0)], bind) => {
  const ratio = sqrt(div(sub(both(1), x), add(both(1), x)));
  return mul(atan([bind(ratio)], bind), both(2));
};

/** e^|x| as a product of two halves, since half of it overflows later, and its reciprocal. */
function exponentials(x: Expression, bind: Bind): readonly [Expression, Expression] {
  const half = bind(exp([bind(mul(absolute(x), both(0.5)))], bind));
  const large = bind(mul(mul(half, both(0.5)), half));
  return [large, div(both(0.25), large)];
}

/** Up to 1 by Taylor's series, beyond it by exponentials. */
const sinh: DoubleFunction = ([x = both(0)], bind) => {
  const z = bind(mul(x, x));
  const near = polynomial(z, ODD_FACTORIALS);
  const [large, small] = exponentials(x, bind);
  const far = signed(sub(large, small), x);
  return choose(is('lt', absolute(x), 1), mul(x, near), far);
};

/** 1 / 19!, 1 / 17!, … 1 / 1!. */
const ODD_FACTORIALS = Array.from({ length: 10 }, (_, i) => {
  let product = 1;
  for (let factor = 2; factor <= 19 - 2 * i; factor++) product *= factor;
  return 1 / product;
});

const cosh: DoubleFunction = ([x = both(0)], bind) => {
  const [large, small] = exponentials(x, bind);
  return add(large, small);
};

/** Beyond 2^28 the logarithm of the double: squares would overflow. */
const asinh: DoubleFunction = ([x = both(0)], bind) => {
  const a = bind(absolute(x));
  const isLarge = bind(is('gt', a, 2 ** 28));
  const square = bind(mul(a, a));
  const near = add(a, div(square, add(both(1), sqrt(add(square, both(1))))));
  const value = log1p([bind(choose(isLarge, sub(a, both(1)), near))], bind);
  return signed(add(value, apply('v128.and', isLarge, both(Math.LN2))), x);
};

const acosh: DoubleFunction = ([x = both(1)], bind) => {
  const isLarge = bind(is('gt', x, 2 ** 28));
  const t = bind(sub(x, both(1)));
  const near = add(t, sqrt(mul(t, add(x, both(1)))));
  const value = log1p([bind(choose(isLarge, t, near))], bind);
  const whole = add(value, apply('v128.and', isLarge, both(Math.LN2)));
  return choose(is('lt', x, 1), both(NaN), whole);
};

const atanh: DoubleFunction = ([x = both(0)], bind) => {
  const a = bind(absolute(x));
  const ratio = bind(div(add(a, a), sub(both(1), a)));
  const value = mul(log1p([ratio], bind), both(0.5));
  return signed(choose(is('gt', a, 1), both(NaN), value), x);
};

/** The sigmoid by e^-|x|, which does not overflow. */
const sigmoid: DoubleFunction = ([x = both(0)], bind) => {
  const power = bind(exp([bind(apply('f64x2.neg', absolute(x)))], bind));
  return div(choose(is('lt', x, 0), power, both(1)), add(both(1), power));
};

/** By e^2|x| less 1: up to 1/2 that of the series of sinh, for the difference would round. */
const tanh: DoubleFunction = ([x = both(0)], bind) => {
  const a = bind(absolute(x));
  const z = bind(mul(a, a));
  const power = exp([bind(add(a, a))], bind);
  const far = sub(both(1), div(both(2), add(power, both(1))));
  const sine = bind(mul(a, polynomial(z, ODD_FACTORIALS)));
  const near = div(sine, sqrt(add(both(1), mul(sine, sine))));
  return signed(choose(is('lt', a, 0.5), near, far), x);
};

/** As IEEE 754 has it, of the logarithm of |a|: the relative error grows with the exponent. */
const pow: DoubleFunction = ([a = both(1), b = both(1)], bind) => {
  const size = bind(absolute(a));
  const raised = bind(exp([bind(mul(b, log([size], bind)))], bind));
  const isWhole = bind(apply('f64x2.eq', apply('f64x2.floor', b), b));
  const half = bind(mul(b, both(0.5)));
  const isOdd = apply('v128.andnot', isWhole, apply('f64x2.eq', apply('f64x2.floor', half), half));
  const sign = apply('v128.and', apply('v128.and', isOdd, a), bits(-(2n ** 63n)));
  const isRoot = apply(
    'v128.andnot',
    apply('v128.and', is('lt', a, 0), is('gt', a, -Infinity)),
    isWhole,
  );
  const isNaN = apply('v128.or', apply('f64x2.ne', a, a), apply('f64x2.ne', b, b));
  const power = apply('v128.or', choose(apply('v128.or', isRoot, isNaN), both(NaN), raised), sign);
  const isEndless = is('eq', absolute(b), Infinity);
  const isUnit = apply('v128.and', is('eq', size, 1), isEndless);
  const isOne = apply('v128.or', apply('v128.or', is('eq', b, 0), is('eq', a, 1)), isUnit);
  return choose(isOne, both(1), power);
};

/**
 * Elementary functions of two lanes of float64, within a few units in the last place but for `pow`. Not
 * the angular ones, whose arguments have to be reduced.
 */
export const DOUBLE_FUNCTIONS = {
  exp,
  log,
  log1p,
  sigmoid,
  tanh,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  pow,
} as const satisfies Readonly<Record<string, DoubleFunction>>;
