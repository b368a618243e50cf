import {
  apply,
  type Expression,
  f32x4,
  i32,
  local,
  locals,
  shuffle32,
} from '../../wasm/expression.ts';
import { type Bind, loop, set, type Statement, when } from '../../wasm/statement.ts';
import { lanesName, splat } from './lanes.ts';
import { isSignedType, isWideType, type ScalarType } from './scalar-type.ts';
import { both, signed } from './double-lanes.ts';

/** The place of functions that take rounds of a loop. */
export interface RoundsPlace {
  readonly bind: Bind;
  readonly statements: Statement[];
}

const choose = (condition: Expression, a: Expression, b: Expression) =>
  apply('v128.bitselect', a, b, condition);

/** a^b of integers in lanes, by repeated squaring; a negative power is 0 unless the base is 1 or -1. */
export function integerPower(
  type: ScalarType,
  [a = f32x4(0), b = f32x4(0)]: readonly Expression[],
  { statements }: RoundsPlace,
): Expression {
  const lanes = lanesName(type);
  const [zero, one] = [splat(type, 0), splat(type, 1)];
  const [result, base, rest] = locals(3, 'v128');
  const index = local('i32');
  const isOdd = (n: Expression) => apply(`${lanes}.ne`, apply('v128.and', n, one), zero);
  statements.push(
    set(result, one),
    set(base, a),
    set(rest, b),
    ...loop({ index, end: i32(isWideType(type) ? 64 : 32) }, [
      set(result, choose(isOdd(rest), apply(`${lanes}.mul`, result, base), result)),
      set(base, apply(`${lanes}.mul`, base, base)),
      set(rest, apply(`${lanes}.shr_u`, rest, i32(1))),
    ]),
  );
  if (!isSignedType(type)) return result;
  const isOne = apply(`${lanes}.eq`, a, one);
  const isMinus = apply(`${lanes}.eq`, a, splat(type, -1));
  const ofMinus = choose(isOdd(b), a, one);
  const inverse = choose(isOne, one, apply('v128.and', ofMinus, isMinus));
  return choose(apply(`${lanes}.lt_s`, b, zero), inverse, result);
}

/** Digits that a quotient may have for its product with 24 bits to be exact. */
const QUOTIENT_DIGITS = 28;

/** The remainder of float32 with the sign of a, exact: quotients of few bits, the highest first. */
export function floatRemainder(
  [a = f32x4(0), b = f32x4(0)]: readonly Expression[],
  { bind, statements }: RoundsPlace,
): Expression {
  const promote = (x: Expression) => bind(apply('f64x2.promote_low_f32x4', x));
  const halves = [(x: Expression) => x, (x: Expression) => shuffle32(x, x, [2, 3, 2, 3])];
  const size = bind(apply('f32x4.abs', a));
  const divisor = bind(apply('f32x4.abs', b));
  const rests = halves.map((half) => {
    const rest = local('v128');
    const by = promote(half(divisor));
    statements.push(set(rest, promote(half(size))));
    return { rest, by };
  });
  const reduce = (scale: Expression): Statement[] =>
    rests.flatMap(({ rest, by }) => {
      const [part, next] = locals(2, 'v128');
      const quotient = apply('f64x2.trunc', apply('f64x2.div', rest, part));
      const isBelow = apply('f64x2.lt', next, both(0));
      return [
        set(part, apply('f64x2.mul', by, scale)),
        set(next, apply('f64x2.sub', rest, apply('f64x2.mul', quotient, part))),
        // The quotient may have been rounded up to a whole number.
        set(rest, apply('f64x2.add', next, apply('v128.and', isBelow, part))),
      ];
    });
  // From the largest quotient of two float32, 2^277, down to small ones.
  const [scale, index] = [local('v128'), local('i32')];
  const large = apply('f32x4.gt', size, apply('f32x4.mul', divisor, f32x4(2 ** QUOTIENT_DIGITS)));
  statements.push(
    ...when(apply('v128.any_true', large), [
      set(scale, both(2 ** (QUOTIENT_DIGITS * 10))),
      ...loop({ index, end: i32(10) }, [
        ...reduce(scale),
        set(scale, apply('f64x2.mul', scale, both(2 ** -QUOTIENT_DIGITS))),
      ]),
    ]),
    ...reduce(both(1)),
  );
  const [low = a, high = a] = rests.map(({ rest, by }, i) => {
    const half = halves[i]?.(a) ?? a;
    const kept = choose(
      apply('f64x2.eq', by, both(Infinity)),
      promote(apply('f32x4.abs', half)),
      rest,
    );
    return apply('f32x4.demote_f64x2_zero', signed(kept, promote(half)));
  });
  const joined = shuffle32(low, high, [0, 1, 4, 5]);
  // By 0, and of infinities, there is none.
  const isEndless = apply('f32x4.eq', size, f32x4(Infinity));
  return choose(isEndless, f32x4(NaN), joined);
}
