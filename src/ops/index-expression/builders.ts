import type * as build from './build.ts';
import { typed } from './build.ts';
import type { IndexFunction, IndexOperator } from './expression.ts';

type Builders = Omit<typeof build, 'typed'>;

const binary =
  (operator: IndexOperator | IndexFunction): Builders['add'] =>
  (a, b) =>
    typed(operator, a.type)(a, b);

const compare = (operator: IndexOperator): Builders['less'] => typed(operator, 'bool');

/**
 * All that builds index expressions, as one value. Made anew of `typed`: each further export of the file that
 * has them would be bytes of every worker.
 */
export const indexExpression: Builders = {
  constant: (value, type) => ({ kind: 'constant', value, type }),
  ZERO: { kind: 'constant', value: 0, type: 'u32' },
  add: binary('+'),
  sub: binary('-'),
  mul: binary('*'),
  div: binary('/'),
  rem: binary('%'),
  min: binary('min'),
  less: compare('<'),
  lessEqual: compare('<='),
  greaterEqual: compare('>='),
  equal: compare('=='),
  all: (conditions) => (conditions.length > 0 ? typed('&', 'bool')(...conditions) : undefined),
  abs: typed('abs', 'i32'),
  clamp: typed('clamp', 'i32'),
  select: (condition, whenTrue, whenFalse) =>
    typed('select', whenTrue.type)(whenFalse, whenTrue, condition),
  toSigned: typed('i32', 'i32'),
  toUnsigned: typed('u32', 'u32'),
  wrapped: typed('bitcast<u32>', 'u32'),
};
