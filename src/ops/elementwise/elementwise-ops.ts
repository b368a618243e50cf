import type { OpDefinition } from '../define-op.ts';
import { cast } from './cast.ts';
import { COMPARISON_OPS } from './comparison.ts';
import { BINARY_OPS } from './elementwise-binary.ts';
import { UNARY_OPS } from './elementwise-unary.ts';

export const ELEMENTWISE_OPS: readonly OpDefinition[] = [
  ...UNARY_OPS,
  ...BINARY_OPS,
  ...COMPARISON_OPS,
  cast,
];
