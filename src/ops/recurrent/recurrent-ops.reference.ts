import type { OpReference } from '../op-reference.ts';
import { recurrentReference } from './recurrent.reference.ts';
import type { RecurrentName } from './recurrent-ops.ts';

export const RECURRENT_REFERENCES = {
  recurrent: recurrentReference,
} satisfies Record<RecurrentName, OpReference>;
