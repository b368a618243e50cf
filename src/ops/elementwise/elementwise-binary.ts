import type { DType } from '../../core/tensor/dtype.ts';
import { boolAttribute } from '../attributes.ts';
import { type OpDefinition, tensor } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Formula, Expression } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { ROUNDED, defineUnary } from './elementwise-unary.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { NUMERIC, INTEGERS, UNSIGNED_INTEGERS } from './number-dtypes.ts';

interface BinarySpec<Name extends string = string>
  extends Pick<ElementwiseSpec<Name>, 'name' | 'attributes' | 'tolerance'> {
  readonly dtypes: readonly DType[];
  /** The formula of the operands A and B. */
  readonly formula: Formula;
}

/** An elementwise operator of two inputs of one dtype. */
function defineBinary<const Name extends string>({
  dtypes,
  formula,
  ...spec
}: BinarySpec<Name>): OpDefinition<Name> {
  const inputs = [
    { name: 'a', dtypes },
    { name: 'b', dtypes },
  ];
  return defineElementwise({ ...spec, inputs, scalar: { formula } });
}

function defineArithmetic<const Name extends string>(
  name: Name,
  formula: Formula,
): OpDefinition<Name> {
  return defineBinary({ name, dtypes: NUMERIC, tolerance: ROUNDED, formula });
}

export const add = defineArithmetic('add', f.add(f.A, f.B));
export const mul = defineArithmetic('mul', f.mul(f.A, f.B));
export const maximum = defineBinary({ name: 'maximum', dtypes: NUMERIC, formula: f.max(f.A, f.B) });
export const minimum = defineBinary({ name: 'minimum', dtypes: NUMERIC, formula: f.min(f.A, f.B) });

export const BINARY_OPS = [
  add,
  defineArithmetic('sub', f.sub(f.A, f.B)),
  mul,
  defineArithmetic('div', f.div(f.A, f.B)),
  defineBinary({
    name: 'pow',
    dtypes: NUMERIC,
    tolerance: INTRINSICS.pow.tolerance,
    formula: f.intrinsic('pow', f.A, f.B),
  }),
  maximum,
  minimum,
] as const;

const WORDS: readonly DType[] = [...INTEGERS, 'bool'];

export const BITWISE_OPS = [
  defineBinary({ name: 'bitwise_and', dtypes: WORDS, formula: f.and(f.A, f.B) }),
  defineBinary({ name: 'bitwise_or', dtypes: WORDS, formula: f.or(f.A, f.B) }),
  defineBinary({ name: 'bitwise_xor', dtypes: WORDS, formula: f.xor(f.A, f.B) }),
  defineUnary({ name: 'bitwise_not', dtypes: INTEGERS, formula: f.not(f.X) }),
  defineBinary({ name: 'shift_left', dtypes: UNSIGNED_INTEGERS, formula: f.shl(f.A, f.B) }),
  defineBinary({ name: 'shift_right', dtypes: UNSIGNED_INTEGERS, formula: f.shr(f.A, f.B) }),
] as const;

const ALL: readonly DType[] = [...NUMERIC, 'bool'];

function defineComparison<const Name extends string>(
  name: Name,
  dtypes: readonly DType[],
  formula: Expression,
): OpDefinition<Name> {
  return defineElementwise({
    name,
    inputs: [
      { name: 'a', dtypes },
      { name: 'b', dtypes },
    ],
    output: () => 'bool',
    scalar: { formula },
  });
}

const where = defineElementwise({
  name: 'where',
  inputs: [tensor('condition', ['bool']), tensor('x', ALL), tensor('y', ALL)],
  sameDType: [1, 2],
  output: (dtypes) => dtypes[1] ?? 'float32',
  scalar: { formula: f.select(f.operand(0), f.operand(1), f.operand(2)) },
});

export const COMPARISON_OPS = [
  defineComparison('equal', ALL, f.equal(f.A, f.B)),
  defineComparison('less', NUMERIC, f.less(f.A, f.B)),
  defineComparison('less_equal', NUMERIC, f.lessEqual(f.A, f.B)),
  defineComparison('greater', NUMERIC, f.greater(f.A, f.B)),
  defineComparison('greater_equal', NUMERIC, f.greaterEqual(f.A, f.B)),
  defineElementwise({
    name: 'logical_not',
    inputs: [tensor('x', ['bool'])],
    scalar: { formula: f.not(f.X) },
  }),
  where,
] as const;

const floored = f.bound('rest', f.rem(f.A, f.B), (rest) => {
  const differs = f.notEqual(f.less(rest, 0), f.less(f.B, 0));
  return f.select(f.and(f.notEqual(rest, 0), differs), f.add(rest, f.B), rest);
});

/** Rounds the quotient down, or towards zero when `fmod`. */
export const modulo = defineBinary({
  name: 'mod',
  dtypes: NUMERIC,
  attributes: { fmod: { type: 'bool', default: false } },
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  formula: ({ attributes, output }) =>
    boolAttribute(attributes, 'fmod') || UNSIGNED_INTEGERS.includes(output)
      ? f.rem(f.A, f.B)
      : floored,
});
