import type { Lowering } from '../lowering.ts';
import { lowerDft } from './dft-lowering.ts';
import type { SignalName } from './signal-ops.ts';

export const SIGNAL_WEBGPU = {
  dft: lowerDft,
} satisfies Partial<Record<SignalName, Lowering>>;
