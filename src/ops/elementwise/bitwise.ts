import type { DType } from '../../core/tensor/dtype.ts';
import * as f from '../formula/build.ts';
import { defineBinary } from './elementwise-binary.ts';
import { INTEGERS, UNSIGNED_INTEGERS } from './number-dtypes.ts';
import { defineUnary } from './elementwise-unary.ts';

const WORDS: readonly DType[] = [...INTEGERS, 'bool'];

export const BITWISE_OPS = [
  defineBinary({ name: 'bitwise_and', dtypes: WORDS, formula: f.and(f.A, f.B) }),
  defineBinary({ name: 'bitwise_or', dtypes: WORDS, formula: f.or(f.A, f.B) }),
  defineBinary({ name: 'bitwise_xor', dtypes: WORDS, formula: f.xor(f.A, f.B) }),
  defineUnary({ name: 'bitwise_not', dtypes: INTEGERS, formula: f.not(f.X) }),
  defineBinary({ name: 'shift_left', dtypes: UNSIGNED_INTEGERS, formula: f.shl(f.A, f.B) }),
  defineBinary({ name: 'shift_right', dtypes: UNSIGNED_INTEGERS, formula: f.shr(f.A, f.B) }),
] as const;
