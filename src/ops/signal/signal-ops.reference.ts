import type { OpReference } from '../op-reference.ts';
import { dftReference } from './dft.reference.ts';
import { framesReference } from './frames.reference.ts';
import type { SignalName } from './signal-ops.ts';

export const SIGNAL_REFERENCES = {
  dft: dftReference,
  frames: framesReference,
} satisfies Record<SignalName, OpReference>;
