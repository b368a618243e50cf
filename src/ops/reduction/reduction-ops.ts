import type { OpDefinition } from '../define-op.ts';
import { REDUCE_OPS } from './reduce.ts';

export const REDUCTION_OPS: readonly OpDefinition[] = [...REDUCE_OPS];
