import type { DType } from '../../core/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import type { OpCase } from '../op-cases.ts';
import { defineBinary } from './elementwise-binary.ts';
import { INTEGERS, UNSIGNED_INTEGERS } from './number-dtypes.ts';
import { defineUnary } from './elementwise-unary.ts';

const WORDS: readonly DType[] = [...INTEGERS, 'bool'];

const FLOATS: OpCase = {
  title: 'bad dtype',
  inputs: [
    { dtype: 'float32', shape: [2] },
    { dtype: 'float32', shape: [2] },
  ],
};

const bitwiseNot = defineUnary({
  name: 'bitwise_not',
  summary: 'Every bit of an integer inverted.',
  dtypes: INTEGERS,
  formula: f.not(f.X),
  badCases: [{ title: 'of floats', inputs: [{ dtype: 'float32', shape: [2] }] }],
});

interface WordsSpec {
  readonly name: string;
  readonly summary: string;
  readonly formula: Expression;
}

function defineBitwise(spec: WordsSpec): OpDefinition {
  return defineBinary({ ...spec, dtypes: WORDS, badCases: [FLOATS] });
}

function defineShift(spec: WordsSpec): OpDefinition {
  return defineBinary({
    ...spec,
    dtypes: UNSIGNED_INTEGERS,
    ranges: [
      [0, 2 ** 32],
      [0, 40],
    ],
    badCases: [FLOATS],
  });
}

export const BITWISE_OPS: readonly OpDefinition[] = [
  defineBitwise({
    name: 'bitwise_and',
    summary: 'The bits that a and b share; of bools, whether both hold.',
    formula: f.and(f.A, f.B),
  }),
  defineBitwise({
    name: 'bitwise_or',
    summary: 'The bits of a or b; of bools, whether one holds.',
    formula: f.or(f.A, f.B),
  }),
  defineBitwise({
    name: 'bitwise_xor',
    summary: 'The bits in which a and b differ; of bools, whether they differ.',
    formula: f.xor(f.A, f.B),
  }),
  bitwiseNot,
  defineShift({
    name: 'shift_left',
    summary: 'The bits of a moved to the left by b places; 0 from the width of a on.',
    formula: f.shl(f.A, f.B),
  }),
  defineShift({
    name: 'shift_right',
    summary: 'The bits of a moved to the right by b places; 0 from the width of a on.',
    formula: f.shr(f.A, f.B),
  }),
];
