import type { Adjoint } from '../adjoint/adjoint.ts';
import { recurrentAdjoint } from './recurrent.adjoint.ts';
import type { RecurrentName } from './recurrent-ops.ts';

export const RECURRENT_ADJOINTS = {
  recurrent: recurrentAdjoint,
} satisfies Record<RecurrentName, Adjoint>;
