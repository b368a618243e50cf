import type { DType } from '../../core/tensor/dtype.ts';
import { type OpDefinition, tensor } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import { defineElementwise } from './elementwise.ts';
import { NUMERIC } from './number-dtypes.ts';

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
