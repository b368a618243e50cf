import type { OpCases } from '../op-cases.ts';
import { THREEFRY_CASES } from '../random/threefry-words.cases.ts';
import { bitcastCases } from './bitcast.cases.ts';
import { BITWISE_CASES } from './bitwise.cases.ts';
import { castCases } from './cast.cases.ts';
import { COMPARISON_CASES } from './comparison.cases.ts';
import { BINARY_CASES } from './elementwise-binary.cases.ts';
import type { ElementwiseName } from './elementwise-ops.ts';
import { UNARY_CASES } from './elementwise-unary.cases.ts';
import { MODULO_CASES } from './modulo.cases.ts';
import { ROUNDING_CASES } from './rounding.cases.ts';
import { TRANSCENDENTAL_CASES } from './transcendental.cases.ts';

export const ELEMENTWISE_CASES = {
  ...UNARY_CASES,
  ...ROUNDING_CASES,
  ...TRANSCENDENTAL_CASES,
  ...BINARY_CASES,
  ...MODULO_CASES,
  ...BITWISE_CASES,
  ...COMPARISON_CASES,
  cast: castCases,
  bitcast: bitcastCases,
  ...THREEFRY_CASES,
} satisfies Record<ElementwiseName, OpCases>;
