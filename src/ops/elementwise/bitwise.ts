import type { DType } from '../../core/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { wgslOperandType } from '../wgsl-literal.ts';
import { defineBinary } from './elementwise-binary.ts';
import { INTEGERS, UNSIGNED_INTEGERS } from './number-dtypes.ts';
import { defineUnary } from './elementwise-unary.ts';

const WORDS: readonly DType[] = [...INTEGERS, 'bool'];

interface BitwiseSpec {
  readonly name: string;
  readonly summary: string;
  readonly sign: string;
  readonly host: (a: number, b: number) => number;
  readonly wideHost: (a: bigint, b: bigint) => bigint;
}

function defineBitwise({ name, summary, sign, host, wideHost }: BitwiseSpec): OpDefinition {
  return defineBinary({
    name,
    summary,
    dtypes: WORDS,
    wgsl: (a, b, { output }) => `(${a} ${output === 'bool' && sign === '^' ? '!=' : sign} ${b})`,
    host,
    wide: { wgsl: (a, b) => `(${a} ${sign} ${b})`, functions: [], host: wideHost },
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
  wide: { wgsl: (x) => `(~${x})`, functions: [], host: (x) => ~x },
  badCases: [{ title: 'of floats', inputs: [{ dtype: 'float32', shape: [2] }] }],
});

function defineShift(name: string, sign: '<<' | '>>', host: (a: number, b: number) => number) {
  return defineBinary({
    name,
    summary: `The bits of a moved to the ${name === 'shift_left' ? 'left' : 'right'} by b places; 0 from the width of a on.`,
    dtypes: UNSIGNED_INTEGERS,
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
    wide: {
      wgsl: (a, b) =>
        `${sign === '<<' ? 'wide_shl' : 'u64_shr'}(${a}, select(${b}.x, 64u, ${b}.y > 0u))`,
      functions: ['wide_shl', 'u64_shr'],
      host: (a, b) => (b >= 64n ? 0n : sign === '<<' ? a << b : a >> b),
    },
    badCases: [FLOATS],
  });
}

export const BITWISE_OPS: readonly OpDefinition[] = [
  defineBitwise({
    name: 'bitwise_and',
    summary: 'The bits that a and b share; of bools, whether both hold.',
    sign: '&',
    host: (a, b) => a & b,
    wideHost: (a, b) => a & b,
  }),
  defineBitwise({
    name: 'bitwise_or',
    summary: 'The bits of a or b; of bools, whether one holds.',
    sign: '|',
    host: (a, b) => a | b,
    wideHost: (a, b) => a | b,
  }),
  defineBitwise({
    name: 'bitwise_xor',
    summary: 'The bits in which a and b differ; of bools, whether they differ.',
    sign: '^',
    host: (a, b) => a ^ b,
    wideHost: (a, b) => a ^ b,
  }),
  bitwiseNot,
  defineShift('shift_left', '<<', (a, b) => a << b),
  defineShift('shift_right', '>>', (a, b) => a >>> b),
];
