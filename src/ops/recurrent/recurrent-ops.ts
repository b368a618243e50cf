import type { OpDefinition } from '../define-op.ts';
import { recurrent } from './recurrent.ts';

export const RECURRENT_OPS: readonly OpDefinition[] = [recurrent];
