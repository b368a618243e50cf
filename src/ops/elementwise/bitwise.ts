import type { DType } from '../../core/dtype.ts';
import type { OpCase, OpDefinition } from '../define-op.ts';
import { wgslOperandType } from '../wgsl-literal.ts';
import { defineBinary } from './elementwise-binary.ts';
import { defineUnary } from './elementwise-unary.ts';

const INTEGERS: readonly DType[] = ['int32', 'uint32'];
const WORDS: readonly DType[] = [...INTEGERS, 'bool'];

interface BitwiseSpec {
  readonly name: string;
  readonly summary: string;
  readonly sign: string;
  readonly host: (a: number, b: number) => number;
}

function defineBitwise({ name, summary, sign, host }: BitwiseSpec): OpDefinition {
  return defineBinary({
    name,
    summary,
    dtypes: WORDS,
    wgsl: (a, b, { output }) => `(${a} ${output === 'bool' && sign === '^' ? '!=' : sign} ${b})`,
    host,
    badCases: [FLOATS],
  });
}

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
  wgsl: (x) => `(~${x})`,
  host: (x) => ~x,
});

function defineShift(name: string, sign: '<<' | '>>', host: (a: number, b: number) => number) {
  return defineBinary({
    name,
    summary: `The bits of a moved to the ${name === 'shift_left' ? 'left' : 'right'} by b places; 0 from the width of a on.`,
    dtypes: ['uint32'],
    ranges: [
      [0, 2 ** 32],
      [0, 40],
    ],
    // WGSL takes the distance modulo 32.
    wgsl: (a, b, { output, width }) => {
      const type = wgslOperandType(output, width);
      return `select(${type}(), ${a} ${sign} (${b} & ${type}(31u)), ${b} < ${type}(32u))`;
    },
    host: (a, b) => (b >= 32 ? 0 : host(a, b)),
    badCases: [FLOATS],
  });
}

export const BITWISE_OPS: readonly OpDefinition[] = [
  defineBitwise({
    name: 'bitwise_and',
    summary: 'The bits that a and b share; of bools, whether both hold.',
    sign: '&',
    host: (a, b) => a & b,
  }),
  defineBitwise({
    name: 'bitwise_or',
    summary: 'The bits of a or b; of bools, whether one holds.',
    sign: '|',
    host: (a, b) => a | b,
  }),
  defineBitwise({
    name: 'bitwise_xor',
    summary: 'The bits in which a and b differ; of bools, whether they differ.',
    sign: '^',
    host: (a, b) => a ^ b,
  }),
  bitwiseNot,
  defineShift('shift_left', '<<', (a, b) => a << b),
  defineShift('shift_right', '>>', (a, b) => a >>> b),
];
