import type { OpCase } from '../op-cases.ts';
import { casesOfEach, binary, type CasesOf, unary } from './elementwise.cases.ts';
import { BITWISE_OPS } from './elementwise-binary.ts';

const FLOATS: OpCase = {
  title: 'bad dtype',
  inputs: [
    { dtype: 'float32', shape: [2] },
    { dtype: 'float32', shape: [2] },
  ],
};

function ofShift(side: 'left' | 'right'): CasesOf {
  return binary({
    summary: `The bits of a moved to the ${side} by b places; 0 from the width of a on.`,
    ranges: [
      [0, 2 ** 32],
      [0, 40],
    ],
    badCases: [FLOATS],
  });
}

export const BITWISE_CASES = casesOfEach(BITWISE_OPS, {
  bitwise_and: binary({
    summary: 'The bits that a and b share; of bools, whether both hold.',
    badCases: [FLOATS],
  }),
  bitwise_or: binary({
    summary: 'The bits of a or b; of bools, whether one holds.',
    badCases: [FLOATS],
  }),
  bitwise_xor: binary({
    summary: 'The bits in which a and b differ; of bools, whether they differ.',
    badCases: [FLOATS],
  }),
  bitwise_not: unary({
    summary: 'Every bit of an integer inverted.',
    badCases: [{ title: 'of floats', inputs: [{ dtype: 'float32', shape: [2] }] }],
  }),
  shift_left: ofShift('left'),
  shift_right: ofShift('right'),
});
