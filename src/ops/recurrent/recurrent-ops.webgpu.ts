import type { Lowering } from '../lowering.ts';
import { lowerRecurrent } from './recurrent-lowering.ts';
import type { RecurrentName } from './recurrent-ops.ts';

export const RECURRENT_WEBGPU = {
  recurrent: lowerRecurrent,
} satisfies Record<RecurrentName, Lowering>;
