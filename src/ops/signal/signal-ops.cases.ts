import type { OpCases } from '../op-cases.ts';
import { dftCases } from './dft.cases.ts';
import { framesCases } from './frames.cases.ts';
import type { SignalName } from './signal-ops.ts';

export const SIGNAL_CASES = {
  dft: dftCases,
  frames: framesCases,
} satisfies Record<SignalName, OpCases>;
