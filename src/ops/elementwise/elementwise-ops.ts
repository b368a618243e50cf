import { threefryWords } from '../random/threefry-words.ts';
import { bitcast } from './bitcast.ts';
import { BITWISE_OPS } from './bitwise.ts';
import { cast } from './cast.ts';
import { COMPARISON_OPS } from './comparison.ts';
import { BINARY_OPS } from './elementwise-binary.ts';
import { UNARY_OPS } from './elementwise-unary.ts';
import { modulo } from './modulo.ts';
import { ROUNDING_OPS } from './rounding.ts';
import { TRANSCENDENTAL_OPS } from './transcendental.ts';

export const ELEMENTWISE_OPS = [
  ...UNARY_OPS,
  ...ROUNDING_OPS,
  ...TRANSCENDENTAL_OPS,
  ...BINARY_OPS,
  modulo,
  ...BITWISE_OPS,
  ...COMPARISON_OPS,
  cast,
  bitcast,
  threefryWords,
] as const;

export type ElementwiseName = (typeof ELEMENTWISE_OPS)[number]['name'];
