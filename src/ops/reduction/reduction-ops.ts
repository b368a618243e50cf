import type { OpDefinition } from '../define-op.ts';
import { ARG_REDUCE_OPS } from './arg-reduce.ts';
import { cumulative } from './cumulative.ts';
import { REDUCE_OPS } from './reduce.ts';

export const REDUCTION_OPS: readonly OpDefinition[] = [
  ...REDUCE_OPS,
  ...ARG_REDUCE_OPS,
  cumulative,
];
