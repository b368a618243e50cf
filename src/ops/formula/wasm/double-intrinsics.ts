import {
  apply,
  type Expression,
  f32x4,
  local,
  locals,
  shuffle32,
} from '../../../wasm/expression.ts';
import { type Bind, set, type Statement, when } from '../../../wasm/statement.ts';
import type { IntrinsicName } from '../expression.ts';
import {
  ANGULAR,
  DOUBLE_FUNCTIONS,
  type DoubleFunction,
  reduceAngle,
  reduceLargeAngle,
  SMALL_ANGLE,
} from './wasm-doubles.ts';
import type { Intrinsic } from './wasm-intrinsics.ts';

/** The upper two lanes in place of the lower. */
const upper = (x: Expression) => shuffle32(x, x, [2, 3, 2, 3]);
const promote = (x: Expression) => apply('f64x2.promote_low_f32x4', x);

/** Halves in double precision as one vector of float32. */
function joined(halves: readonly Expression[], bind: Bind): Expression {
  const [low = f32x4(0), high = f32x4(0)] = halves.map((half) =>
    bind(apply('f32x4.demote_f64x2_zero', half)),
  );
  return shuffle32(low, high, [0, 1, 4, 5]);
}

const HALVES = [(x: Expression) => promote(x), (x: Expression) => promote(upper(x))];

/** Rounded to nearest, but where double precision lies on the wrong side of a tie. */
const inDouble =
  (compute: DoubleFunction): Intrinsic =>
  (operands, bind) => {
    const halves = HALVES.map((half) =>
      bind(
        compute(
          operands.map((x) => bind(half(x))),
          bind,
        ),
      ),
    );
    return joined(halves, bind);
  };

/** Rounds as {@link inDouble} does, and reduces large arguments exactly. */
const angular =
  (name: keyof typeof ANGULAR): Intrinsic =>
  ([x = f32x4(0)], bind, statements) => {
    const halves = HALVES.map((half) => bind(half(x)));
    const angles = halves.map((half) => {
      const [rest, quarters] = locals(2, 'v128');
      const reduced = reduceAngle(half, bind);
      statements.push(set(rest, reduced.rest), set(quarters, reduced.quarters));
      return { rest, quarters };
    });
    const isLarge = apply('f32x4.gt', apply('f32x4.abs', x), f32x4(SMALL_ANGLE));
    const exact: Statement[] = [];
    const bindExact = (value: Expression): Expression => {
      const target = local(value.type);
      exact.push(set(target, value));
      return target;
    };
    for (const [i, half] of halves.entries()) {
      const angle = angles[i];
      if (angle === undefined) continue;
      const { rest, quarters } = reduceLargeAngle(half, bindExact);
      exact.push(set(angle.rest, rest), set(angle.quarters, quarters));
    }
    statements.push(...when(apply('v128.any_true', isLarge), exact));
    return joined(
      angles.map((angle) => bind(ANGULAR[name](angle, bind))),
      bind,
    );
  };

/** Those by way of double precision, in four lanes of float32. */
export const DOUBLE_INTRINSICS = {
  log1p: inDouble(DOUBLE_FUNCTIONS.log1p),
  sin: angular('sin'),
  cos: angular('cos'),
  tan: angular('tan'),
  asin: inDouble(DOUBLE_FUNCTIONS.asin),
  acos: inDouble(DOUBLE_FUNCTIONS.acos),
  atan: inDouble(DOUBLE_FUNCTIONS.atan),
  sinh: inDouble(DOUBLE_FUNCTIONS.sinh),
  cosh: inDouble(DOUBLE_FUNCTIONS.cosh),
  asinh: inDouble(DOUBLE_FUNCTIONS.asinh),
  acosh: inDouble(DOUBLE_FUNCTIONS.acosh),
  atanh: inDouble(DOUBLE_FUNCTIONS.atanh),
  pow: inDouble(DOUBLE_FUNCTIONS.pow),
} as const satisfies Partial<Record<IntrinsicName, Intrinsic>>;

export { DOUBLE_FUNCTIONS };
