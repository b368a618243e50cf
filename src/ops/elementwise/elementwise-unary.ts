import type { DType } from '../../core/tensor/dtype.ts';
import type { OpDefinition, Tolerance } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression, Formula, IntrinsicName } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { FLOATS, NUMERIC, SIGNED } from './number-dtypes.ts';

interface UnarySpec<Name extends string = string>
  extends Pick<ElementwiseSpec<Name>, 'name' | 'attributes' | 'tolerance'> {
  readonly dtypes: readonly DType[];
  /** The formula of the operand X. */
  readonly formula: Formula;
}

/** An elementwise operator of one input. */
export function defineUnary<const Name extends string>({
  dtypes,
  formula,
  ...spec
}: UnarySpec<Name>): OpDefinition<Name> {
  return defineElementwise({ ...spec, inputs: [{ name: 'x', dtypes }], scalar: { formula } });
}

/** The last bits of arithmetic may differ. */
export const ROUNDED: Tolerance = { rtol: 1e-6, atol: 1e-7 };

/** An operator that is an intrinsic and no more. */
function defineFunction<const Name extends IntrinsicName>(name: Name): OpDefinition<Name> {
  const { tolerance } = INTRINSICS[name];
  return defineUnary({ name, dtypes: FLOATS, tolerance, formula: f.intrinsic(name, f.X) });
}

/** x times half of 1 + `odd`, an odd function that goes to 1. */
const gated = (odd: Expression) => f.mul(f.mul(0.5, f.X), f.add(1, odd));

const GELU = gated(f.intrinsic('erf', f.mul(f.X, Math.SQRT1_2)));

const GELU_BY_TANH = gated(
  f.intrinsic(
    'tanh',
    f.mul(f.mul(Math.sqrt(2 / Math.PI), f.X), f.add(1, f.mul(f.mul(0.044715, f.X), f.X))),
  ),
);

const gelu = defineUnary({
  name: 'gelu',
  dtypes: FLOATS,
  attributes: { approximate: { type: 'string', default: 'none', oneOf: ['none', 'tanh'] } },
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  formula: ({ attributes }) => (attributes.approximate === 'tanh' ? GELU_BY_TANH : GELU),
});

/** A limit, rounded to the type of the result. */
const bound = (name: string) => f.convert(f.attribute(name), 'output');

const clip = defineUnary({
  name: 'clip',
  dtypes: ['float32', 'float64', 'int32', 'uint32'],
  attributes: {
    min: { type: 'float', default: -3.4028234663852886e38 },
    max: { type: 'float', default: 3.4028234663852886e38 },
  },
  formula: f.min(f.max(f.X, bound('min')), bound('max')),
});

export const UNARY_OPS = [
  defineUnary({ name: 'abs', dtypes: NUMERIC, formula: f.abs(f.X) }),
  defineUnary({ name: 'neg', dtypes: SIGNED, formula: f.neg(f.X) }),
  defineUnary({ name: 'relu', dtypes: SIGNED, formula: f.select(f.less(f.X, 0), 0, f.X) }),
  defineUnary({
    name: 'leaky_relu',
    dtypes: FLOATS,
    attributes: { alpha: { type: 'float', default: 0.01 } },
    tolerance: ROUNDED,
    formula: f.select(f.less(f.X, 0), f.mul(f.X, f.attribute('alpha')), f.X),
  }),
  defineFunction('sigmoid'),
  defineFunction('tanh'),
  defineFunction('exp'),
  defineFunction('log'),
  defineUnary({ name: 'sqrt', dtypes: FLOATS, tolerance: ROUNDED, formula: f.sqrt(f.X) }),
  defineFunction('erf'),
  gelu,
  defineUnary({ name: 'floor', dtypes: FLOATS, formula: f.floor(f.X) }),
  clip,
] as const;

function defineClass<const Name extends string>(
  name: Name,
  formula: Expression,
): OpDefinition<Name> {
  return defineElementwise({
    name,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    output: () => 'bool',
    scalar: { formula },
  });
}

export const ROUNDING_OPS = [
  defineUnary({ name: 'ceil', dtypes: FLOATS, formula: f.ceil(f.X) }),
  defineUnary({ name: 'round', dtypes: FLOATS, formula: f.round(f.X) }),
  defineUnary({
    name: 'sign',
    dtypes: NUMERIC,
    formula: f.select(f.greater(f.X, 0), 1, f.select(f.less(f.X, 0), -1, f.X)),
  }),
  defineClass('is_nan', f.isNaN(f.X)),
  defineClass('is_positive_infinity', f.isPositiveInfinity(f.X)),
] as const;

export const TRANSCENDENTAL_OPS = [
  defineFunction('sin'),
  defineFunction('cos'),
  defineFunction('tan'),
  defineFunction('asin'),
  defineFunction('acos'),
  defineFunction('atan'),
  defineFunction('sinh'),
  defineFunction('cosh'),
  defineFunction('asinh'),
  defineFunction('acosh'),
  defineFunction('atanh'),
  defineFunction('log1p'),
] as const;
