import type { IntrinsicName } from '../expression.ts';
import { apply, type Expression, f32x4, i32x4, multiplyAdd } from '../../../wasm/expression.ts';
import { type Bind } from '../../../wasm/statement.ts';
import { add, mul, sub } from '../../../wasm/floats.ts';
import type { Statement } from '../../../wasm/statement.ts';

/**
 * Computes four elements of float32; `bind` puts a value that is used again into a local, and statements
 * that have to come before the result go into the list.
 */
export type Intrinsic = (
  operands: readonly Expression[],
  bind: Bind,
  statements: Statement[],
) => Expression;

/** One that needs no statements of its own. */
type SimpleIntrinsic = (operands: readonly Expression[], bind: Bind) => Expression;

const choose = (condition: Expression, a: Expression, b: Expression) =>
  apply('v128.bitselect', a, b, condition);

/** Evaluates a polynomial by Horner's rule; the highest power comes first. */
function polynomial(x: Expression, coefficients: readonly number[]): Expression {
  const [first = 0, ...rest] = coefficients;
  return rest.reduce<Expression>((sum, next) => multiplyAdd(sum, x, f32x4(next)), f32x4(first));
}

/** Within bounds; NaN stays. The instructions `min` and `max` take engines several times as long. */
const between = (x: Expression, least: number, most: number): Expression =>
  apply('f32x4.pmax', apply('f32x4.pmin', x, f32x4(most)), f32x4(least));

/** To add it to a number leaves the nearest integer in the lowest bits: 1.5 times 2 to the number of bits. */
const TO_INTEGER = 1.5 * 2 ** 23;

/** The bias of exponents in float32: the bits that stand for 2^0. */
const BIAS = 127;

/**
 * `2^n * power` is e^x, where the lowest bits of `shifted` are the biased exponent of 2^n. The power is
 * within 3.1e-9 (minimax of the relative error); what is left of x takes two constants, lest the first
 * product be rounded.
 */
function exponential(x: Expression, bind: Bind): { shifted: Expression; power: Expression } {
  const toInteger = f32x4(TO_INTEGER + BIAS);
  const shifted = bind(multiplyAdd(x, f32x4(Math.LOG2E), toInteger));
  const n = bind(sub(shifted, toInteger));
  const high = bind(multiplyAdd(n, f32x4(-0.693359375), x));
  const rest = bind(multiplyAdd(n, f32x4(2.1219444e-4), high));
  const series = polynomial(
    rest,
    [
      1.3814580778228e-3, 8.3687253971439e-3, 4.166838887507e-2, 0.1666652056148612,
      0.4999999344305,
    ],
  );
  const power = add(multiplyAdd(series, mul(rest, rest), rest), f32x4(1));
  return { shifted, power };
}

/** e^x within a unit in the last place: in two factors lest one overflows where the product does not. */
const exp: SimpleIntrinsic = ([x = f32x4(0)], bind) => {
  // Beyond these the result is infinite, and 0.
  const { shifted, power } = exponential(bind(between(x, -104, 89)), bind);
  const exponent = bind(apply('i32x4.sub', shifted, f32x4(TO_INTEGER)));
  const half = bind(apply('i32x4.shr_s', exponent, ONE));
  const others = apply('i32x4.sub', exponent, half);
  // Of the two factors the biases are 64 and 63 more than these.
  const [one, other] = [apply('i32x4.add', half, i32x4(64)), apply('i32x4.add', others, i32x4(63))];
  return mul(mul(power, inExponent(one)), inExponent(other));
};

/** e^x of x no more than 0, 0 in place of denormals: half of the work of {@link INTRINSICS}.exp less. */
export function expOfNegative(x: Expression, bind: Bind): Expression {
  // The factor of the least one is 0.
  const { shifted, power } = exponential(bind(apply('f32x4.pmax', x, f32x4(-88))), bind);
  return mul(power, inExponent(shifted));
}

const ONE: Expression = { kind: 'constant', type: 'i32', value: 1 };
const MANTISSA_BITS: Expression = { kind: 'constant', type: 'i32', value: 23 };

/** 2 to the biased exponent in the lowest bits. */
const inExponent = (biased: Expression): Expression => apply('i32x4.shl', biased, MANTISSA_BITS);

/** The natural logarithm within a unit in the last place, by the Cephes library (logf). */
const log: Intrinsic = ([x = f32x4(1)], bind) => {
  const least = 2 ** -126;
  const isSmall = bind(apply('f32x4.lt', x, f32x4(least)));
  // Denormals have leading zeros in their mantissa.
  const normal = bind(choose(isSmall, mul(x, f32x4(2 ** 23)), x));
  const bits = bind(apply('i32x4.sub', normal, i32x4(SQRT_HALF_BITS)));
  const exponent = bind(
    sub(
      apply('f32x4.convert_i32x4_s', apply('i32x4.shr_s', bits, MANTISSA_BITS)),
      apply('v128.and', isSmall, f32x4(23)),
    ),
  );
  // From the square root of 1/2 to that of 2, less 1.
  const mantissa = apply(
    'i32x4.add',
    apply('v128.and', bits, i32x4(0x7fffff)),
    i32x4(SQRT_HALF_BITS),
  );
  const m = bind(sub(mantissa, f32x4(1)));
  const square = bind(mul(m, m));
  const series = polynomial(
    m,
    [
      7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1,
      -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
    ],
  );
  const small = add(
    add(mul(mul(series, m), square), mul(exponent, f32x4(-2.1219444e-4))),
    mul(square, f32x4(-0.5)),
  );
  const value = add(add(m, small), mul(exponent, f32x4(0.693359375)));
  const isFinite = apply('f32x4.lt', x, f32x4(Infinity));
  // x - x: NaN of infinities too, so that infinity stays by itself.
  const special = choose(apply('f32x4.lt', x, f32x4(0)), f32x4(NaN), x);
  const isPositive = apply('f32x4.gt', x, f32x4(0));
  const ends = choose(apply('f32x4.eq', x, f32x4(0)), f32x4(-Infinity), special);
  return choose(apply('v128.and', isFinite, isPositive), value, ends);
};

/** The bits of the square root of 1/2 in float32. */
const SQRT_HALF_BITS = 0x3f3504f3;

/** Within 3 units in the last place, by e^-|x|, which does not overflow. */
const sigmoid: Intrinsic = ([x = f32x4(0)], bind) => {
  const power = bind(exp([bind(apply('f32x4.neg', apply('f32x4.abs', x)))], bind));
  const above = choose(apply('f32x4.lt', x, f32x4(0)), power, f32x4(1));
  return apply('f32x4.div', above, add(f32x4(1), power));
};

/**
 * Within 6 units in the last place: x times the quotient of two polynomials of its square, which is within
 * 2.3e-8 of tanh up to 9.05 (minimax of the relative error) and x itself for small ones.
 */
const tanh: SimpleIntrinsic = ([x = f32x4(0)], bind) => {
  const known = bind(between(x, -9, 9));
  const square = bind(mul(known, known));
  const above = polynomial(
    square,
    [1.3331111341828e-8, 2.0597656791113e-5, 3.4951467839484e-3, 0.13380744224361, 1],
  );
  const below = polynomial(
    square,
    [7.768548434398762e-7, 3.284732350040769e-4, 2.587557777464189e-2, 0.46714065113396586, 1],
  );
  return between(apply('f32x4.div', mul(known, above), below), -1, 1);
};

/** Within 2 units in the last place by N. Juffa's polynomials: of x, and from 475/512 on of the logarithm of what is missing to 1. */
const erf: Intrinsic = ([x = f32x4(0)], bind) => {
  const size = bind(apply('f32x4.pmin', apply('f32x4.abs', x), f32x4(4)));
  const square = bind(mul(x, x));
  const exponent = polynomial(
    size,
    [
      -1.7285347e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1,
      -1.28717512e-1,
    ],
  );
  const power = expOfNegative(bind(sub(mul(exponent, size), size)), bind);
  const far = sub(f32x4(1), power);
  const signed = apply('v128.or', far, apply('v128.and', x, i32x4(-0x80000000)));
  const series = polynomial(
    square,
    [-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1],
  );
  return choose(apply('f32x4.le', size, f32x4(475 / 512)), add(mul(series, x), x), signed);
};

/** The instruction rounds once, as IEEE 754 has it. */
const quotient: Intrinsic = ([a = f32x4(0), b = f32x4(1)]) => apply('f32x4.div', a, b);

/** Those that need no double precision, in four lanes of float32. */
export const INTRINSICS = {
  exp,
  log,
  sigmoid,
  erf,
  tanh,
  quotient,
} as const satisfies Partial<Record<IntrinsicName, Intrinsic>>;
