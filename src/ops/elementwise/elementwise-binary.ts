import type { DType } from '../../core/tensor/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Formula } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { ROUNDED } from './elementwise-unary.ts';
import { NUMERIC } from './number-dtypes.ts';

export interface BinarySpec<Name extends string = string>
  extends Pick<ElementwiseSpec<Name>, 'name' | 'attributes' | 'tolerance'> {
  readonly dtypes: readonly DType[];
  /** The formula of the operands A and B. */
  readonly formula: Formula;
}

/** An elementwise operator of two inputs of one dtype. */
export function defineBinary<const Name extends string>({
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
