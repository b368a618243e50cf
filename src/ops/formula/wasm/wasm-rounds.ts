import type { Expression } from '../../../wasm/expression.ts';
import * as w from '../../../wasm/expression.ts';
import { type Bind, loop, set, type Statement, when } from '../../../wasm/statement.ts';
import { lanesName, splat } from './lanes.ts';
import { isSignedType, isWideType, type ScalarType } from '../scalar-type.ts';
import { both, signed } from './double-lanes.ts';

/** The place of functions that take rounds of a loop. */
interface RoundsPlace {
  readonly bind: Bind;
  readonly statements: Statement[];
}

const choose = (condition: Expression, a: Expression, b: Expression) =>
  w.apply('v128.bitselect', a, b, condition);

/** a^b of integers in lanes, by repeated squaring; a negative power is 0 unless the base is 1 or -1. */
export function integerPower(
  type: ScalarType,
  [a = w.f32x4(0), b = w.f32x4(0)]: readonly Expression[],
  { statements }: RoundsPlace,
): Expression {
  const lanes = lanesName(type);
  const [zero, one] = [splat(type, 0), splat(type, 1)];
  const [result, base, rest] = w.locals(3, 'v128');
  const index = w.local('i32');
  const isOdd = (n: Expression) => w.apply(`${lanes}.ne`, w.apply('v128.and', n, one), zero);
  statements.push(
    set(result, one),
    set(base, a),
    set(rest, b),
    ...loop({ index, end: w.i32(isWideType(type) ? 64 : 32) }, [
      set(result, choose(isOdd(rest), w.apply(`${lanes}.mul`, result, base), result)),
      set(base, w.apply(`${lanes}.mul`, base, base)),
      set(rest, w.apply(`${lanes}.shr_u`, rest, w.i32(1))),
    ]),
  );
  if (!isSignedType(type)) return result;
  const isOne = w.apply(`${lanes}.eq`, a, one);
  const isMinus = w.apply(`${lanes}.eq`, a, splat(type, -1));
  const ofMinus = choose(isOdd(b), a, one);
  const inverse = choose(isOne, one, w.apply('v128.and', ofMinus, isMinus));
  return choose(w.apply(`${lanes}.lt_s`, b, zero), inverse, result);
}

/** Digits that a quotient may have for its product with 24 bits to be exact. */
const QUOTIENT_DIGITS = 28;

/** The remainder of float32 with the sign of a, exact: quotients of few bits, the highest first. */
export function floatRemainder(
  [a = w.f32x4(0), b = w.f32x4(0)]: readonly Expression[],
  { bind, statements }: RoundsPlace,
): Expression {
  const promote = (x: Expression) => bind(w.apply('f64x2.promote_low_f32x4', x));
  const halves = [(x: Expression) => x, (x: Expression) => w.shuffle32(x, x, [2, 3, 2, 3])];
  const size = bind(w.apply('f32x4.abs', a));
  const divisor = bind(w.apply('f32x4.abs', b));
  const rests = halves.map((half) => {
    const rest = w.local('v128');
    const by = promote(half(divisor));
    statements.push(set(rest, promote(half(size))));
    return { rest, by };
  });
  const reduce = (scale: Expression): Statement[] =>
    rests.flatMap(({ rest, by }) => {
      const [part, next] = w.locals(2, 'v128');
      const quotient = w.apply('f64x2.trunc', w.apply('f64x2.div', rest, part));
      const isBelow = w.apply('f64x2.lt', next, both(0));
      return [
        set(part, w.apply('f64x2.mul', by, scale)),
        set(next, w.apply('f64x2.sub', rest, w.apply('f64x2.mul', quotient, part))),
        // The quotient may have been rounded up to a whole number.
        set(rest, w.apply('f64x2.add', next, w.apply('v128.and', isBelow, part))),
      ];
    });
  // From the largest quotient of two float32, 2^277, down to small ones.
  const [scale, index] = [w.local('v128'), w.local('i32')];
  const large = w.apply(
    'f32x4.gt',
    size,
    w.apply('f32x4.mul', divisor, w.f32x4(2 ** QUOTIENT_DIGITS)),
  );
  statements.push(
    ...when(w.apply('v128.any_true', large), [
      set(scale, both(2 ** (QUOTIENT_DIGITS * 10))),
      ...loop({ index, end: w.i32(10) }, [
        ...reduce(scale),
        set(scale, w.apply('f64x2.mul', scale, both(2 ** -QUOTIENT_DIGITS))),
      ]),
    ]),
    ...reduce(both(1)),
  );
  const [low = a, high = a] = rests.map(({ rest, by }, i) => {
    const half = halves[i]?.(a) ?? a;
    const kept = choose(
      w.apply('f64x2.eq', by, both(Infinity)),
      promote(w.apply('f32x4.abs', half)),
      rest,
    );
    return w.apply('f32x4.demote_f64x2_zero', signed(kept, promote(half)));
  });
  const joined = w.shuffle32(low, high, [0, 1, 4, 5]);
  // By 0, and of infinities, there is none.
  const isEndless = w.apply('f32x4.eq', size, w.f32x4(Infinity));
  return choose(isEndless, w.f32x4(NaN), joined);
}
